/* The selected stretch of time, over the lanes of the sides that it is of. */

export function drawStretch(screen, view, painter) {
  const { stretch } = view;
  if (stretch === null || view.mode === "aligned") return;
  screen.save();
  screen.beginPath();
  screen.rect(painter.plotLeft, 0, painter.plotWidth(), painter.height);
  screen.clip();
  view.sides.forEach((side, sideIndex) => {
    const span = stretch.spans[sideIndex];
    if (!span) return;
    const left = painter.xOf(span.from, sideIndex);
    const right = Math.max(left + 1, painter.xOf(span.to, sideIndex));
    const top = (painter.rows.find((row) => row.side === sideIndex)?.top ?? side.bottom) - 3;
    const height = side.bottom + 6 - top;
    screen.fillStyle = view.palette.marked;
    screen.fillRect(left, top, right - left, height);
    screen.fillStyle = view.palette.accent;
    for (const x of [left - 1, right - 1]) screen.fillRect(x, top, 2, height);
  });
  screen.restore();
}
