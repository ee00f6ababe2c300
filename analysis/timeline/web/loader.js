/* What the server sends to the timeline of the same drawing, and back: a component of Streamlit
   without a place on the page, in a fragment of its own, so that a question of the timeline runs
   nothing else. `data` is a container (packing.py): the drawing, or an answer about it. */

import { openContainer } from "./data/unpack.js";

/* One entry a drawing: {base, answer, send, listener}, shared by the two components. */
const drawings = globalThis.fusescopeDrawings ??= new Map();

export default function (component) {
  const { data, setStateValue } = component;
  if (!data?.length) return;
  const { whole } = openContainer(data);
  const isAnswer = whole.answers !== undefined;
  let known = drawings.get(whole.drawing);
  if (isAnswer && !known?.base) { // this browser has lost what it answers about
    setStateValue("asked", { drawing: "", number: 0 });
    return;
  }
  if (!known) drawings.set(whole.drawing, known = {});
  known.send = (question) => setStateValue("asked", { ...question, drawing: whole.drawing });
  if (isAnswer) known.listener?.answered(data);
  else if (!known.base) {
    known.base = data;
    for (const other of drawings.keys()) { // the one before may still be drawn
      if (drawings.size > 4 && other !== whole.drawing) drawings.delete(other);
    }
    known.listener?.arrived();
  }
}
