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
  const canvas = document.createElement("canvas");
  let busy = null;
  let made = "";

  /* The picture of all sides, one above the other, of one row a pixel. */
  function fill({ view, painter }) {
    const rows = Math.max(1, Math.round(painter.map.height / Math.max(1, busy.length)) - 1);
    Object.assign(canvas, { width: COLUMNS, height: Math.max(1, busy.length * (rows + 1)) });
    const pen = canvas.getContext("2d");
    pen.globalAlpha = 0.6;
    busy.forEach((shares, side) => {
      pen.fillStyle = view.palette.sides[view.sides[side]?.id] ?? view.palette.muted;
      for (let at = 0; at < COLUMNS; at++) {
        const high = shares[at] * rows;
        if (high > 0) pen.fillRect(at, (side + 1) * (rows + 1) - high, 1, high);
      }
    });
  }

  return function drawMinimap(sheet) {
    const { pen, view, painter } = sheet;
    const { top, height } = painter.map;
    const { palette } = view;
    const wanted = [view.content, height, palette.text].join();
    if (made !== wanted) {
      if (made.split(",")[0] !== String(view.content)) {
        busy = busyOf(view.layers ? view.layers.overview() : view.sides, view.span);
      }
      made = wanted;
      fill(sheet);
    }
    const width = painter.plotWidth();
    pen.fillStyle = palette.track;
    pen.fillRect(painter.plotLeft, top, width, height);
    pen.drawImage(canvas, painter.plotLeft, top, width, height);
    const windows = view.own ?? [view];
    const each = height / windows.length;
    windows.forEach(({ from, to }, row) => {
      const left = painter.plotLeft + (from / view.span) * width;
      const shown = Math.max(6, ((to - from) / view.span) * width);
      pen.fillStyle = palette.marked;
      pen.fillRect(left, top + row * each, shown, each);
      pen.strokeStyle = palette.accent;
      pen.lineWidth = 1.5;
      pen.globalAlpha = view.own === null || row === view.active ? 1 : 0.5;
      const wide = Math.max(1, shown - 1.5);
      pen.strokeRect(left + 0.75, top + row * each + 0.75, wide, each - 1.5);
    });
    pen.globalAlpha = 1;
  };
}
