// The person says no.

import { edit, holds, Panel, read } from './panel.mjs';
import { LINES } from './suite.mjs';

export const name = 'a denied edit changes nothing and the card says who denied it';

export async function run(t) {
  const panel = await Panel.fresh(t);
  await t.model.play([
    { reply: [read(t, 'deny.txt')] },
    { reply: [edit(t, 'deny.txt', 'three', 'THREE')] },
  ]);
  await panel.send('Put line three in capitals');
  await panel.answer('reject_once');
  await panel.ended();
  await holds(t, 'deny.txt', `${LINES.join('\n')}\n`);
  await panel.view.locator('[data-answered="denied"], [data-status="denied"]').first().waitFor();
  await t.screenshot('denied');
}
