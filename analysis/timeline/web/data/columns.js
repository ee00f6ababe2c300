/* Calls too short for a box of their own, put together by columns of `thin` device pixels.

   A column is as high as the part of it in which something ran, so that it looks neither idle nor
   busier than it was. Its colour is that of one class: what others have over is carried to the
   next columns, so that colours keep the proportions of time. Where longer calls have most of a
   column, at most every third one goes to the short ones: they must neither vanish nor take over. */

import { CLASSES } from "./calls.js";

export function createColumns(rightmost, thin) {
  const count = Math.ceil(rightmost / thin) + 1;
  const busy = new Float32Array(count); // part of each column in which anything ran
  const covered = new Uint8Array(count); // 1 where a box of its own has the column
  const carried = new Float64Array(2 * CLASSES.length); // by class, the dimmed ones behind
  const time = new Float64Array(2 * CLASSES.length); // of the open column
  const closed = [];
  let reached = -Infinity; // device px up to which the lane was busy
  let open = -1;
  let own = 0; // time of short calls in the open column

  /* Of the classes in the open column, the one that is owed most; a lit one before all dimmed. */
  function close() {
    if (open < 0) return;
    let lit = -1;
    let dimmed = -1;
    for (let kind = 0; kind < time.length; kind++) {
      if (time[kind] === 0) continue;
      carried[kind] += time[kind];
      if (kind < CLASSES.length) {
        if (lit < 0 || carried[kind] > carried[lit]) lit = kind;
      } else if (dimmed < 0 || carried[kind] > carried[dimmed]) dimmed = kind;
    }
    const kind = lit >= 0 ? lit : dimmed;
    carried[kind] -= own;
    closed.push({ column: open, own: own / thin, kind: kind % CLASSES.length, isLit: lit >= 0 });
    time.fill(0);
    own = 0;
    open = -1;
  }

  return {
    /* Something ran from `from` to `to`, in device px. Calls come in the order of their starts. */
    ran(from, to) {
      const start = Math.max(from, reached, 0);
      const end = Math.min(to, count * thin);
      reached = Math.max(reached, to);
      if (end <= start) return;
      const [first, last] = [Math.floor(start / thin), Math.min(count - 1, Math.floor(end / thin))];
      if (first === last) {
        busy[first] += (end - start) / thin;
        return;
      }
      busy[first] += first + 1 - start / thin;
      for (let column = first + 1; column < last; column++) busy[column] = 1;
      busy[last] += end / thin - last;
    },
    /* A box of its own goes from `left` to `right`. */
    cover: (left, right) =>
      covered.fill(1, Math.max(0, Math.floor(left / thin)), Math.max(0, Math.ceil(right / thin))),
    /* A call too short for a box has its middle at `x` and is `width` long. */
    share(x, width, kind, isLit) {
      const column = Math.max(0, Math.min(count - 1, Math.floor(x / thin)));
      if (column !== open) {
        close();
        open = column;
      }
      const length = Math.max(width, 1e-9); // a call of no time is one all the same
      time[kind + (isLit ? 0 : CLASSES.length)] += length;
      own += length;
    },
    /* The columns to draw: {left, share, kind, isLit}. */
    shared() {
      close();
      const drawn = [];
      let allowance = 4;
      let last = -Infinity;
      for (const { column, own, kind, isLit } of closed) {
        const share = Math.min(1, busy[column]);
        if (covered[column] && own < share - own) {
          allowance = Math.min(4, allowance + Math.max(0, column - last) / 3);
          last = column;
          // A fixed noise decides, so that a repeating pattern does not always favour its first.
          if (allowance < 1 + ((column * 0.618034) % 1)) continue;
          allowance -= 1;
        }
        drawn.push({ left: column * thin, share, kind, isLit });
      }
      return drawn;
    },
  };
}
