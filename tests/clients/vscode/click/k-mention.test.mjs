// A file is mentioned by a few of its letters, and a prompt typed while a conversation is being begun is not lost.

import { Panel } from './panel.mjs';

export const name = 'a mentioned file goes along, and what is typed into a new conversation stays there';

export async function run(t) {
  const panel = await Panel.fresh(t);
  await t.model.play([{ reply: ['I have read it.'] }, { reply: ['In a new one.'] }]);
  await panel.prompt.pressSequentially('Look at @mentio');
  await panel.view.locator('[data-completions] [role="option"]', { hasText: 'mentioned.txt' }).waitFor();
  await t.screenshot('mention');
  await t.page.keyboard.press('Enter');
  await panel.view.locator('[data-chip="file"]', { hasText: 'mentioned.txt' }).waitFor();
  await t.page.keyboard.press('Enter');
  await panel.says('I have read it.');
  await panel.ended();
  const { requests } = await t.model.state();
  const sent = JSON.stringify(requests.findLast((request) => request.body?.messages)?.body.messages);
  if (!sent.includes('@mentioned.txt') || !sent.includes('a line to be mentioned')) {
    throw new Error(`the file did not go along: ${sent}`);
  }

  // The command of the prompt begins a conversation; the next letters follow it at once.
  await panel.prompt.pressSequentially('/new');
  await panel.view.locator('[data-completions] [role="option"]', { hasText: '/new' }).waitFor();
  await t.page.keyboard.press('Enter');
  await panel.view.locator('[data-title]', { hasText: 'New conversation' }).waitFor();
  await panel.prompt.pressSequentially('typed at once');
  await t.until('the prompt stays', async () => (await panel.prompt.inputValue()) === 'typed at once');
  await t.page.keyboard.press('Enter');
  await panel.says('In a new one.');
  await panel.ended();
}
