/* What the timeline is drawn on: a canvas of device pixels, and how texts are measured and written
   there. Lengths are CSS pixels unless they say device. */

import { cutMiddle } from "../data/text.js";

/* {canvas, pen, view, painter} with its functions. A text that is cut joins `painter.captions`. */
export function createSheet(view, painter) {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  let textWidths = new Map();

  const density = () => Math.max(view.printing ? 3 : 0.1, devicePixelRatio || 1);
  const font = (size, weight = 400) => `${weight} ${size}px ${view.palette.family}`;

  function textWidth(text, size, weight = 400) {
    const key = `${weight} ${size} ${text}`;
    let known = textWidths.get(key);
    if (known === undefined) {
      if (textWidths.size > 20000) textWidths.clear();
      pen.font = font(size, weight);
      known = pen.measureText(text).width;
      textWidths.set(key, known);
    }
    return known;
  }

  function write(text, left, baseline, size, weight, colour) {
    pen.font = font(size, weight);
    pen.fillStyle = colour;
    pen.fillText(text, left, baseline);
  }

  /* Text that is cut in the middle where room is short; the tooltip then has it in full. */
  function writeCaption(text, left, baseline, room, size, weight, colour) {
    const shown = cutMiddle(text, room, (part) => textWidth(part, size, weight));
    write(shown, left, baseline, size, weight, colour);
    if (shown === text) return;
    painter.captions.push({
      left,
      right: left + room,
      top: baseline - size,
      bottom: baseline + 4,
      text,
    });
  }

  return {
    canvas,
    pen,
    view,
    painter,
    density,
    font,
    textWidth,
    write,
    writeCaption,
    forgetWidths: () => {
      textWidths = new Map();
    },
  };
}
