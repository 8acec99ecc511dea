// A task is typed into the panel; the agent reads, asks, edits, and answers.

import { bash, edit, holds, Panel, read } from './panel.mjs';
import { LINES } from './suite.mjs';

export const name = 'a task is worked on: tool cards, a question in the panel, an edit that is saved';

export async function run(t) {
  await t.workbench.openFile('edit.txt');
  const panel = await Panel.fresh(t);
  await t.model.play([
    { reply: ['I will look at the **file** first.', read(t, 'edit.txt')] },
    { reply: ['Now I change it.', edit(t, 'edit.txt', 'three', 'THREE')] },
    { reply: [bash('wc -l edit.txt')] },
    { reply: ['All done: `edit.txt:3` is in capitals.'] },
  ]);
  await panel.send('Put line three in capitals');
  await panel.ask.waitFor();
  await t.screenshot('question');
  await panel.answer('allow_once');
  await panel.ended();
  await holds(t, 'edit.txt', `${LINES.join('\n').replace('three', 'THREE')}\n`);
  await panel.card('Edit').first().waitFor();
  await panel.card('Bash').first().waitFor();
  await panel.says('is in capitals');
  await panel.strip('changes').waitFor();
  await t.screenshot('answer');
}
