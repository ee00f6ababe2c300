/* What the server is asked for, one question at a time: what is wanted while it has not answered is
   asked together, behind its answer. `send(question)` takes one to the server (question.py), and
   `receive` its answer; without `send` there is no server, and nothing is ever answered. What is
   under `asking` in a question is not sent: it is large, and only the view that asked needs it. */

import { openContainer } from "./unpack.js";

const PATIENCE = 8000; // ms without an answer, after which the next question is sent

export function createQuestions(send) {
  let number = 0;
  let waiting = 0; // number of the question without an answer
  let since = 0;
  let wanted = {};
  const tellers = { windows: null, stretch: null, search: null };
  let asked = {}; // who is told of the answer

  function next() {
    if (waiting && performance.now() - since < PATIENCE) return;
    const parts = Object.entries(wanted);
    if (parts.length === 0) return;
    const question = Object.assign({}, ...parts.map(([, made]) => made()));
    asked = Object.fromEntries(parts.map(([part]) => [part, { ...question, tell: tellers[part] }]));
    wanted = {};
    waiting = ++number;
    since = performance.now();
    send({ ...question, asking: undefined, number });
  }

  return {
    isOpen: send !== undefined,
    /* `make()` is called when it is sent, so that it asks for what is wanted then; `tell(answer,
       data, question)` when it is answered. A later wish of the same part replaces this one. */
    ask(part, make, tell) {
      if (send === undefined) return;
      wanted[part] = make;
      tellers[part] = tell;
      next();
    },
    receive(bytes) {
      const { whole, data } = openContainer(bytes);
      if (whole.answers !== waiting) return;
      waiting = 0;
      const told = asked;
      for (const question of Object.values(told)) question.tell(whole, data, question);
      next();
    },
  };
}
