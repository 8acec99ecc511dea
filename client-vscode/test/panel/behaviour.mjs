// What a person does in the panel, in a real browser: focus, keys, scrolling, what is posted. Needs the built bundle.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { load, post, settle } from './harness.mjs';
import { stage } from './stage.mjs';

const { SCENES, OTHERS, NOW } = await load('test/panel/states.ts');
const { difference } = await load('src/patch.ts');
const DEAF_MS = 400;

const { shown, patch, posted, focused } = stage({ before, after, NOW, difference });

/** The card listens to the page's own clock, so that is what is waited for. */
const deafness = (page) => page.waitForTimeout(DEAF_MS + 50);

const command = SCENES['3-permission-command'].state;
const edit = SCENES['4-permission-edit'].state;
const finished = SCENES['6-changes'].state;
const long = SCENES['2-answer'].state;
const working = { ...finished, shell: { ...finished.shell, running: true } };

test('Enter sends what is written and empties the prompt; Shift+Enter is a line', async (context) => {
  const page = await shown(context, finished);
  await page.locator('[data-prompt]').pressSequentially('one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('two');
  await page.keyboard.press('Enter');
  assert.deepEqual(await posted(page, 'send'), [{ type: 'send', text: 'one\ntwo', images: [] }]);
  assert.equal(await page.locator('[data-prompt]').inputValue(), '');
});

test('a prompt that did not go out comes back', async (context) => {
  const page = await shown(context, finished);
  const images = [{ name: 'graph.png', mimeType: 'image/png', data: 'iVBORw0KGgo=' }];
  await post(page, { type: 'refused', text: 'again', images });
  await settle(page);
  assert.equal(await page.locator('[data-prompt]').inputValue(), 'again');
  await page.locator('[data-act="send"]').click();
  assert.deepEqual(await posted(page, 'send'), [{ type: 'send', text: 'again', images }]);
});

test('without a model nothing is sent and the text stays', async (context) => {
  const page = await shown(context, OTHERS['no-model'].state);
  await page.locator('[data-prompt]').fill('hello');
  await page.keyboard.press('Enter');
  assert.deepEqual(await posted(page, 'send'), []);
  assert.equal(await page.locator('[data-prompt]').inputValue(), 'hello');
});

test('a draft is there again after the view was thrown away', async (context) => {
  const page = await shown(context, finished);
  await page.locator('[data-prompt]').fill('half a thou');
  await page.waitForFunction(() => sessionStorage.getItem('kept')?.includes('half a thou'));
  await page.reload();
  await post(page, { type: 'init', state: finished, strings: {}, locale: 'en' });
  await settle(page);
  assert.equal(await page.locator('[data-prompt]').inputValue(), 'half a thou');
});

test('a question never takes the focus, and typed digits and Enter do not answer it', async (context) => {
  const page = await shown(context, {
    ...command,
    items: command.items.filter((item) => item.kind !== 'ask'),
  });
  await page.locator('[data-prompt]').fill('text');
  await patch(page, { ...command, items: command.items.filter((item) => item.kind !== 'ask') }, command);
  await deafness(page);
  assert.equal(await focused(page), 'prompt');
  await page.keyboard.type('12');
  await page.keyboard.press('Enter');
  assert.deepEqual(await posted(page, 'answer'), []);
  assert.equal((await posted(page, 'send'))[0].text, 'text12');
});

test('a question is read out with its whole command', async (context) => {
  const without = { ...command, items: command.items.filter((item) => item.kind !== 'ask') };
  const page = await shown(context, without);
  await patch(page, without, command);
  const { detail } = command.items.find((item) => item.kind === 'ask');
  assert.ok((await page.locator('[role=alert]').textContent()).includes(detail.command));
});

test('Alt+A goes to the question and a digit answers it there', async (context) => {
  const page = await shown(context, command);
  await deafness(page);
  await page.locator('[data-prompt]').focus();
  await page.keyboard.press('Alt+a');
  await page.keyboard.press('2');
  assert.deepEqual(await posted(page, 'answer'), [{ type: 'answer', id: 'q1', optionId: 'allow_session' }]);
  assert.equal(await focused(page), 'prompt');
});

test('what was pressed before the card could be read does not answer it', async (context) => {
  const page = await shown(context, finished);
  // Shown and clicked in one task: no time passes between the two.
  await page.evaluate((state) => {
    window.dispatchEvent(
      new MessageEvent('message', { data: { type: 'init', state, strings: {}, locale: 'en' } }),
    );
    document.querySelector('[data-option="allow_once"]').click();
  }, command);
  assert.deepEqual(await posted(page, 'answer'), []);
  await deafness(page);
  await page.getByRole('button', { name: 'Allow once' }).click();
  assert.equal((await posted(page, 'answer')).length, 1);
});

test('a no goes with words, by Enter in their field', async (context) => {
  const page = await shown(context, edit);
  await deafness(page);
  await page.locator('[data-deny-words]').fill('use the old name');
  await page.keyboard.press('Enter');
  assert.deepEqual(await posted(page, 'answer'), [
    { type: 'answer', id: 'q2', optionId: 'reject_once', feedback: 'use the old name' },
  ]);
});

test('an edited command goes along with the answer', async (context) => {
  const page = await shown(context, command);
  await page.locator('[data-option="edit"]').click();
  await page.locator('[data-command-edit]').fill('npm run build');
  await deafness(page);
  await page.locator('[data-option="allow_once"]').click();
  assert.deepEqual(await posted(page, 'answer'), [
    { type: 'answer', id: 'q1', optionId: 'allow_once', command: 'npm run build' },
  ]);
});

test('a dangerous question has no answer that stands out, another one has', async (context) => {
  const page = await shown(context, command);
  assert.equal(await page.locator('.opt.pri').count(), 0);
  await patch(page, command, edit);
  assert.deepEqual(
    await page.locator('.opt.pri').evaluateAll((all) => all.map((one) => one.dataset.option)),
    ['allow_once'],
  );
});

test('Stop appears left of Send, and Send keeps its place', async (context) => {
  const page = await shown(context, finished);
  const place = () => page.locator('[data-act="send"]').boundingBox();
  const idle = await place();
  await patch(page, finished, working);
  assert.deepEqual(await place(), idle);
  const stop = await page.locator('.composer [data-act="stop"]').boundingBox();
  assert.ok(stop.x + stop.width <= idle.x);
  await page.locator('.composer [data-act="stop"]').click();
  assert.deepEqual(await posted(page, 'stop'), [{ type: 'stop' }]);
});

test('Escape closes the menu first and stops only when none is open', async (context) => {
  const page = await shown(context, working);
  await page.locator('[data-act="mode"]').click();
  await page.locator('[role="menu"]').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('[role="menu"]').waitFor({ state: 'detached' });
  assert.deepEqual(await posted(page, 'stop'), []);
  await page.keyboard.press('Escape');
  assert.equal((await posted(page, 'stop')).length, 1);
});

test('Escape of an input method stops nothing', async (context) => {
  const page = await shown(context, working);
  await page.locator('[data-prompt]').evaluate((field) => {
    const event = { key: 'Escape', isComposing: true, bubbles: true };
    field.dispatchEvent(new KeyboardEvent('keydown', event));
  });
  assert.deepEqual(await posted(page, 'stop'), []);
});

test('the mode is chosen in the menu by keys, and Alt+M takes the next one', async (context) => {
  const page = await shown(context, finished);
  await page.locator('[data-act="mode"]').click();
  await settle(page);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Alt+m');
  assert.deepEqual(await posted(page, 'mode'), [
    { type: 'mode', id: 'acceptEdits' },
    { type: 'mode', id: 'acceptEdits' },
  ]);
});

test('hunks, files and everything are kept and undone from the strip', async (context) => {
  const page = await shown(context, finished);
  await page.locator('[data-strip="changes"] .tog').click();
  await page.locator('[data-hunk="h3"] [data-act="undoHunk"]').click();
  await page.locator('[data-file="src/app.ts"] [data-act="keepFile"]').click();
  await page.locator('[data-act="keepAll"]').click();
  assert.deepEqual(await posted(page, 'review'), [
    { type: 'review', action: 'undo', hunkId: 'h3' },
    { type: 'review', action: 'keep', path: '/home/dev/orders-api/src/app.ts' },
    { type: 'review', action: 'keep' },
  ]);
});

test('the view follows at the end, stops when the person scrolls up, and Latest resumes', async (context) => {
  const page = await shown(context, long, { height: 500 });
  const gap = () =>
    page
      .locator('[data-log]')
      .evaluate((log) => Math.round(log.scrollHeight - log.scrollTop - log.clientHeight));
  const more = (count) => ({
    ...long,
    items: [
      ...long.items,
      ...Array.from({ length: count }, (_, index) => ({
        kind: 'user',
        id: `n${index}`,
        text: 'x',
        chips: [],
      })),
    ],
  });
  assert.equal(await gap(), 0);
  await patch(page, long, more(5));
  assert.equal(await gap(), 0);
  await page.locator('[data-log]').evaluate((log) => (log.scrollTop = 100));
  await settle(page);
  await patch(page, more(5), more(10));
  assert.equal(await page.locator('[data-log]').evaluate((log) => log.scrollTop), 100);
  await page.locator('[data-act="latest"]').click();
  await settle(page);
  assert.equal(await gap(), 0);
  await page.locator('[data-act="latest"]').waitFor({ state: 'detached' });
});

test('a question out of sight is told of above the prompt, and Show goes to it', async (context) => {
  const many = { ...command, items: [...long.items, ...command.items.slice(-2)] };
  const page = await shown(context, many, { height: 600 });
  await page.locator('[data-log]').evaluate((log) => (log.scrollTop = 0));
  await page.locator('[data-act="showQuestion"]').click();
  await page.locator('[data-strip="waiting"]').waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement.dataset.option), 'allow_once');
});

test('what streams touches nothing but the block that grows', async (context) => {
  const { state, then } = SCENES['5-streaming-queue'];
  const page = await shown(context, state);
  await patch(page, state, then[1]);
  await page.evaluate(() => {
    window.touched = [];
    const watch = (records) => records.forEach((record) => window.touched.push(record.target));
    new MutationObserver(watch).observe(document.querySelector('#root'), {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  await patch(page, then[1], then[2]);
  const outside = await page.evaluate(() =>
    window.touched
      .map((node) => (node.nodeType === 1 ? node : node.parentElement))
      // What was taken out itself counts where it was taken from.
      .filter((element) => element?.isConnected && !element.closest('.prose'))
      .map((element) => element.outerHTML),
  );
  assert.deepEqual(outside, []);
});

test('links and files go to the extension', async (context) => {
  const item = {
    kind: 'text',
    id: 'l',
    text: 'see [docs](https://example.org/a)',
    message: 'l',
    streaming: false,
  };
  const page = await shown(context, { ...finished, items: [item] });
  await page.getByRole('link', { name: 'docs' }).click();
  assert.deepEqual(await posted(page, 'openLink'), [{ type: 'openLink', href: 'https://example.org/a' }]);
});
