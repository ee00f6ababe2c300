/* All of the time in small below the axis: how much ran when, and which part is shown. */

const COLUMNS = 1200;

/* Of each side, which part of each of COLUMNS something ran in, of the lane that is busiest then. */
function busyOf(sides, span) {
  const perNs = COLUMNS / span;
  return sides.map(({ lanes }) => {
    const busy = new Float32Array(COLUMNS + 1);
    const own = new Float32Array(COLUMNS + 1);
    const add = (from, to) => {
      const [a, b] = [Math.max(0, from * perNs), Math.min(COLUMNS, to * perNs)];
      for (let at = Math.floor(a); at < b; at++) own[at] += Math.min(b, at + 1) - Math.max(a, at);
    };
    for (const { count, start, end, bins } of lanes) {
      own.fill(0);
      for (let i = 0; i < count; i++) add(start[i], end[i]);
      for (let i = 0; i < bins.count; i++) {
        add(bins.from[i], bins.from[i] + bins.width * bins.share[i]);
      }
      for (let at = 0; at < COLUMNS; at++) busy[at] = Math.max(busy[at], Math.min(1, own[at]));
    }
    return busy;
  });
}

/* `painter.map` says where it lies. Made anew for another content alone: `view.content` counts. */
export function createMinimap() {
  let known = null;

  return function drawMinimap({ pen, view, painter }) {
    const { top, height } = painter.map;
    const { palette } = view;
    if (known?.content !== view.content || known.mode !== view.mode) {
      const sides = view.layers ? view.layers.overview() : view.sides;
      known = { content: view.content, mode: view.mode, busy: busyOf(sides, view.span) };
    }
    const each = height / Math.max(1, known.busy.length);
    const width = painter.plotWidth();
    pen.fillStyle = palette.track;
    pen.fillRect(painter.plotLeft, top, width, height);
    known.busy.forEach((busy, side) => {
      pen.fillStyle = palette.sides[view.sides[side]?.id] ?? palette.muted;
      pen.globalAlpha = 0.6;
      const bottom = top + (side + 1) * each;
      pen.beginPath();
      pen.moveTo(painter.plotLeft, bottom);
      for (let at = 0; at < COLUMNS; at++) {
        const y = bottom - busy[at] * (each - 1);
        pen.lineTo(painter.plotLeft + (at / COLUMNS) * width, y);
        pen.lineTo(painter.plotLeft + ((at + 1) / COLUMNS) * width, y);
      }
      pen.lineTo(painter.plotLeft + width, bottom);
      pen.fill();
    });
    pen.globalAlpha = 1;
    const left = painter.plotLeft + (view.from / view.span) * width;
    const shown = Math.max(6, ((view.to - view.from) / view.span) * width);
    pen.fillStyle = palette.marked;
    pen.fillRect(left, top, shown, height);
    pen.strokeStyle = palette.accent;
    pen.lineWidth = 1.5;
    pen.strokeRect(left + 0.75, top + 0.75, Math.max(1, shown - 1.5), height - 1.5);
  };
}
