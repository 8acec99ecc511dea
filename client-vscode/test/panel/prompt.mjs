// The prompt: its lists, drafts, queue, pictures, rules and popovers, as a person meets them. Needs the built bundle.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { asked, load, post, settle } from './harness.mjs';
import { stage } from './stage.mjs';

const { EDIT, SCENES, OTHERS, FOUND, NOW } = await load('test/panel/states.ts');
const { difference } = await load('src/patch.ts');
const { shown, patch, posted, focused } = stage({ before, after, NOW, difference });

const finished = SCENES['6-changes'].state;
const streaming = OTHERS['queue-edit'].state;
const working = { ...finished, shell: { ...finished.shell, running: true } };
const changed = (state, shell) => ({ ...state, shell: { ...state.shell, ...shell } });
const prompt = (page) => page.locator('[data-prompt]');
const list = (page) => page.locator('[data-completions]');
const chosen = (page) => page.locator('[role="option"][aria-selected="true"]');

async function search(page, text, found = FOUND) {
  await prompt(page).pressSequentially(text);
  await settle(page);
  await post(page, { type: 'found', serial: await asked(page), found });
  await settle(page);
}

// --- @ ---

test('@ searches as it is typed, the field keeps the focus and names the chosen option', async (context) => {
  const page = await shown(context, finished);
  await search(page, 'see @tok');
  assert.deepEqual(
    (await posted(page, 'find')).map((message) => message.query),
    ['', 't', 'to', 'tok'],
  );
  const options = await page.locator('[role="option"]').allInnerTexts();
  assert.equal(options.length, FOUND.length);
  assert.equal(await focused(page), 'prompt');
  const named = async () =>
    page.evaluate(() => {
      const field = document.activeElement;
      const option = document.getElementById(field.getAttribute('aria-activedescendant'));
      return option?.closest(`#${field.getAttribute('aria-controls')}`) ? option.innerText : undefined;
    });
  assert.match(await named(), /tokenBucket\.ts/);
  await page.keyboard.press('ArrowDown');
  await settle(page);
  assert.match(await named(), /tokenBucket\.test\.ts/);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await settle(page);
  assert.match(await named(), /tokens/);
  assert.equal(await chosen(page).count(), 1);
});

test('Enter puts the file into the text where it was named and sends nothing', async (context) => {
  const page = await shown(context, finished);
  await prompt(page).fill('Cover  please');
  await prompt(page).evaluate((field) => field.setSelectionRange(6, 6));
  await search(page, '@tok');
  await page.keyboard.press('Enter');
  await settle(page);
  assert.equal(await prompt(page).inputValue(), 'Cover @src/limits/tokenBucket.ts please');
  assert.equal(await prompt(page).evaluate((field) => field.selectionStart), 32);
  assert.deepEqual(await posted(page, 'mention'), [{ type: 'mention', kind: 'file', path: FOUND[0].path }]);
  assert.deepEqual(await posted(page, 'send'), []);
  await list(page).waitFor({ state: 'detached' });
});

test('Escape closes the list alone, also while a turn runs, and it stays closed for that mention', async (context) => {
  const page = await shown(context, working);
  await search(page, '@tok');
  await page.keyboard.press('Escape');
  await list(page).waitFor({ state: 'detached' });
  await search(page, 'e');
  assert.equal(await list(page).count(), 0);
  assert.equal(await prompt(page).inputValue(), '@toke');
  assert.deepEqual(await posted(page, 'stop'), []);
  await search(page, ' and @b');
  await list(page).waitFor();
  await page.keyboard.press('Escape');
  await list(page).waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  assert.equal((await posted(page, 'stop')).length, 1);
});

test('an answer to an older search is dropped', async (context) => {
  const page = await shown(context, finished);
  await prompt(page).pressSequentially('@to');
  await settle(page);
  const old = await asked(page);
  await page.keyboard.type('k');
  await settle(page);
  await post(page, { type: 'found', serial: old, found: FOUND });
  await settle(page);
  assert.equal(await list(page).count(), 0);
});

test('an input method composes undisturbed: nothing is searched, chosen or sent before it is done', async (context) => {
  const page = await shown(context, finished);
  await search(page, '@');
  const searches = (await posted(page, 'find')).length;
  const client = await page.context().newCDPSession(page);
  await client.send('Input.imeSetComposition', { text: 'xian', selectionStart: 4, selectionEnd: 4 });
  await prompt(page).evaluate((field) => {
    for (const key of ['Enter', 'ArrowDown', 'Escape']) {
      field.dispatchEvent(new KeyboardEvent('keydown', { key, isComposing: true, bubbles: true }));
    }
  });
  assert.equal((await posted(page, 'find')).length, searches);
  assert.deepEqual([await posted(page, 'mention'), await posted(page, 'send')], [[], []]);
  await client.send('Input.insertText', { text: '限流' });
  await settle(page);
  assert.equal(await prompt(page).inputValue(), '@限流');
  assert.equal((await posted(page, 'find')).at(-1).query, '限流');
});

test('a click chooses without taking the focus, and the plus button begins a mention', async (context) => {
  const page = await shown(context, finished);
  await prompt(page).fill('see');
  await page.locator('[data-act="addContext"]').click();
  await settle(page);
  await post(page, { type: 'found', serial: await asked(page), found: FOUND });
  await page.locator('[role="option"]', { hasText: 'tokens' }).click();
  assert.equal(await prompt(page).inputValue(), 'see @packages/auth/src/tokens/ ');
  assert.equal(await focused(page), 'prompt');
});

// --- / ---

test('/ names what can be done now; the command runs, and the prompt is empty again', async (context) => {
  const page = await shown(context, finished);
  await prompt(page).pressSequentially('/');
  await list(page).waitFor();
  const idle = (await page.locator('[role="option"]').allInnerTexts()).join(' ');
  assert.ok(idle.includes('/review') && !idle.includes('/stop'));
  await page.keyboard.type('ne');
  await settle(page);
  await page.keyboard.press('Enter');
  assert.deepEqual(await posted(page, 'command'), [
    { type: 'command', command: 'sidelight.newConversation' },
  ]);
  assert.deepEqual(await posted(page, 'send'), []);
  assert.equal(await prompt(page).inputValue(), '');
  await patch(page, finished, working);
  await prompt(page).pressSequentially('/stop');
  await settle(page);
  await page.keyboard.press('Enter');
  assert.equal((await posted(page, 'stop')).length, 1);
});

test('a command that opens a menu gives it the focus, and Escape gives it back', async (context) => {
  const page = await shown(context, finished);
  for (const [name, role] of [
    ['mode', 'menu'],
    ['model', 'menu'],
    ['context', 'dialog'],
    ['help', 'dialog'],
  ]) {
    await prompt(page).focus();
    await page.keyboard.type(`/${name}`);
    await settle(page);
    await page.keyboard.press('Enter');
    await settle(page);
    assert.ok(await page.evaluate((wanted) => document.activeElement.closest(`[role="${wanted}"]`), role));
    await page.keyboard.press('Escape');
    await page.locator('[data-menu]').waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement !== document.body);
  }
});

test('a name that no command has is sent as it stands', async (context) => {
  const page = await shown(context, finished);
  await prompt(page).pressSequentially('/nothing-known');
  await page.keyboard.press('Enter');
  assert.equal((await posted(page, 'send'))[0].text, '/nothing-known');
});

// --- drafts ---

const begun = changed(finished, { sessionId: 's9', title: '' });
const between = changed(finished, { sessionId: null, title: '' });

test('what is typed while a new conversation is being begun goes into it, and the old draft stays where it was', async (context) => {
  const page = await shown(context, finished);
  await prompt(page).fill('for the old one');
  await patch(page, finished, between);
  assert.equal(await prompt(page).inputValue(), '');
  await prompt(page).pressSequentially('for the ne');
  await patch(page, between, { ...begun, items: [] });
  await page.keyboard.type('w one');
  assert.equal(await prompt(page).inputValue(), 'for the new one');
  await patch(page, { ...begun, items: [] }, finished);
  assert.equal(await prompt(page).inputValue(), 'for the old one');
  await patch(page, finished, between);
  assert.equal(await prompt(page).inputValue(), '');
});

test('a letter that comes between the switch and its drawing belongs to the old conversation', async (context) => {
  const page = await shown(context, finished);
  await prompt(page).fill('old');
  await page.evaluate(
    (message) => {
      const field = document.querySelector('[data-prompt]');
      window.dispatchEvent(new MessageEvent('message', { data: message }));
      field.value += '!';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    },
    { type: 'patch', patch: difference(finished, begun) },
  );
  await settle(page);
  assert.equal(await prompt(page).inputValue(), '');
  await patch(page, begun, finished);
  assert.equal(await prompt(page).inputValue(), 'old!');
});

test('a draft typed just before the view goes away is kept, with its picture', async (context) => {
  const page = await shown(context, finished);
  await paste(page);
  await page.locator('[data-chip="image"]').waitFor();
  await prompt(page).fill('last words');
  await page.reload();
  await post(page, { type: 'init', state: finished, strings: {}, locale: 'en' });
  await settle(page);
  assert.equal(await prompt(page).inputValue(), 'last words');
  assert.equal(await page.locator('[data-chip="image"]').count(), 1);
});

// --- pictures and files ---

function transfer(page, event, { uris = '', image = true } = {}) {
  return prompt(page).evaluate(
    (field, [kind, list, picture]) => {
      const data = new DataTransfer();
      if (picture)
        data.items.add(new File([new Uint8Array([137, 80, 78, 71])], 'graph.png', { type: 'image/png' }));
      if (list) data.setData('text/uri-list', list);
      const init = { bubbles: true, cancelable: true };
      const made =
        kind === 'paste'
          ? new ClipboardEvent(kind, { ...init, clipboardData: data })
          : new DragEvent(kind, { ...init, dataTransfer: data });
      return !field.dispatchEvent(made);
    },
    [event, uris, image],
  );
}
const paste = (page) => transfer(page, 'paste');

test('a picture that is pasted or dropped is a chip, can be removed, and goes along', async (context) => {
  const page = await shown(context, finished);
  assert.ok(await paste(page));
  await page.locator('[data-chip="image"]').waitFor();
  assert.ok(await transfer(page, 'drop'));
  await page.waitForFunction(() => document.querySelectorAll('[data-chip="image"]').length === 2);
  await page.locator('[data-chip="image"] [data-act="removeChip"]').first().click();
  await prompt(page).fill('why');
  await page.keyboard.press('Enter');
  const [sent] = await posted(page, 'send');
  assert.deepEqual(sent.images, [{ name: 'graph.png', mimeType: 'image/png', data: 'iVBORw==' }]);
  await page.waitForFunction(() => document.querySelector('[data-chip="image"]') === null);
});

test('files that are dropped from the explorer are handed to the extension', async (context) => {
  const page = await shown(context, finished);
  const uris = 'file:///w/a.ts\r\nhttps://example.org/x\r\nfile:///w/b.ts';
  assert.ok(await transfer(page, 'drop', { uris, image: false }));
  assert.deepEqual(await posted(page, 'addFiles'), [
    { type: 'addFiles', uris: ['file:///w/a.ts', 'file:///w/b.ts'] },
  ]);
});

// --- the queue ---

test('a prompt that waits is changed in its place, taken out, and the first one sent by stopping', async (context) => {
  const page = await shown(context, streaming);
  const row = (id) => page.locator(`[data-queued-prompt="${id}"]`);
  await row('w2').locator('[data-act="queueEdit"]').click();
  await page.locator('[data-queued-edit]').fill('Then update CHANGELOG.md');
  await page.keyboard.press('Enter');
  await row('w1').locator('[data-act="queueRemove"]').click();
  assert.deepEqual(await posted(page, 'queued'), [
    { type: 'queued', id: 'w2', text: 'Then update CHANGELOG.md' },
    { type: 'queued', id: 'w1' },
  ]);
  assert.equal(await page.locator('[data-act="queueNow"]').count(), 1);
  await row('w1').locator('[data-act="queueNow"]').click();
  assert.equal((await posted(page, 'stop')).length, 1);
});

test('Up in an empty prompt changes the newest prompt that waits, Escape leaves it as it was', async (context) => {
  const page = await shown(context, streaming);
  await prompt(page).focus();
  await page.keyboard.press('ArrowUp');
  await page.locator('[data-queued-edit]:focus').waitFor();
  assert.equal(await page.locator('[data-queued-edit]').inputValue(), 'Then update the changelog');
  await page.keyboard.press('Escape');
  assert.equal(await focused(page), 'prompt');
  assert.deepEqual([await posted(page, 'queued'), await posted(page, 'stop')], [[], []]);
});

test('a change to a queued prompt that was taken up meanwhile is not lost', async (context) => {
  const page = await shown(context, streaming);
  await page.locator('[data-queued-prompt="w1"] [data-act="queueEdit"]').click();
  await page.locator('[data-queued-edit]').fill('log nothing');
  await patch(page, streaming, changed(streaming, { queued: streaming.shell.queued.slice(1) }));
  assert.equal(await prompt(page).inputValue(), 'log nothing');
});

// --- rules ---

const question = OTHERS.rule.state;
const ripe = (page) => page.waitForTimeout(450); // the card listens to the page's own clock

test('a lasting rule is shown whole, can be changed, and is saved only then', async (context) => {
  const page = await shown(context, question);
  await ripe(page);
  await page.locator('[data-option="allow_project"]').click();
  await page.locator('[data-rule]:focus').waitFor();
  assert.deepEqual(await posted(page, 'answer'), []);
  assert.equal(await page.locator('[data-rule]').inputValue(), 'Bash(rm -rf dist .cache/vite)');
  await page.locator('[data-rule]').fill('Bash(rm -rf *)');
  await post(page, { type: 'ruleChecked', id: 'q1', rule: 'Bash(rm -rf *)', problem: 'Too wide.' });
  await page.getByText('Too wide.').waitFor();
  await page.locator('[data-act="saveRule"]').dispatchEvent('click');
  assert.deepEqual(await posted(page, 'answer'), []);
  await page.locator('[data-rule]').fill('Bash(rm -rf dist)');
  await page.locator('[data-act="saveRule"]').click();
  assert.deepEqual(await posted(page, 'answer'), [
    { type: 'answer', id: 'q1', optionId: 'allow_project', rules: ['Bash(rm -rf dist)'] },
  ]);
});

test('a digit opens the rule as a click does, and digits typed into it answer nothing', async (context) => {
  const page = await shown(context, question);
  await ripe(page);
  await page.keyboard.press('Alt+a');
  await page.keyboard.press('4');
  await page.locator('[data-rule]:focus').waitFor();
  await page.keyboard.type('12');
  assert.deepEqual(await posted(page, 'answer'), []);
  await page.locator('[data-act="ruleBack"]').click();
  await page.locator('[data-rule]').waitFor({ state: 'detached' });
});

test('the part that is asked about is marked, the rest of the command is there', async (context) => {
  const page = await shown(context, question);
  assert.equal(await page.locator('[data-command] mark').innerText(), 'rm -rf dist .cache/vite');
  const { detail } = question.items.find((item) => item.kind === 'ask');
  assert.equal(await page.locator('[data-command] .whole').textContent(), detail.command);
});

// --- popovers, undo, one call ---

test('the meter opens what fills the context', async (context) => {
  const page = await shown(context, OTHERS.context.state);
  await page.locator('[data-act="context"]').click();
  const dialog = page.getByRole('dialog', { name: 'Context and cost' });
  assert.deepEqual(
    (await dialog.locator('tr').allInnerTexts()).map((row) => row.split(/\s*\t\s*/)),
    [
      ['Read from the cache', '61.0k', '31%'],
      ['Written to the cache', '12.6k', '6%'],
      ['Sent anew', '1.2k', '1%'],
      ['Answered', '1.2k', '1%'],
      ['Free', '124.0k', '62%'],
    ],
  );
  await page.locator('[data-act="closeMenu"]').click();
  await page.locator('[data-act="context"]:focus').waitFor();
});

test('the model is chosen by its first letter, and the choice is posted once', async (context) => {
  const page = await shown(context, finished);
  await page.locator('[data-act="model"]').click();
  await page.locator('[data-choice]:focus').waitFor();
  await page.keyboard.press('h');
  await page.keyboard.press('Enter');
  assert.deepEqual(await posted(page, 'model'), [{ type: 'model', id: 'claude-haiku-4-5' }]);
  await page.locator('[data-act="model"]:focus').waitFor();
});

test('what was undone can be brought back from its strip', async (context) => {
  const page = await shown(context, OTHERS.undone.state);
  await page.locator('[data-act="redo"]').click();
  assert.deepEqual(await posted(page, 'review'), [{ type: 'review', action: 'redo' }]);
});

test('a running command is stopped alone', async (context) => {
  const page = await shown(context, streaming);
  await page.locator('.card [data-act="stopCall"]').click();
  const { id } = streaming.items.find((item) => item.kind === 'tool' && item.status === 'running');
  assert.deepEqual(await posted(page, 'stopCall'), [{ type: 'stopCall', id }]);
  assert.deepEqual(await posted(page, 'stop'), []);
});

test('the newest error offers its prompt again and its words, an older one only its words', async (context) => {
  const notice = {
    kind: 'notice',
    severity: 'error',
    text: 'The model is away.',
    detail: 'HTTP 503',
    actions: [],
  };
  const user = { kind: 'user', id: 'u', text: 'Fix it', chips: [] };
  const page = await shown(context, {
    ...finished,
    items: [{ ...notice, id: 'n1' }, user, { ...notice, id: 'n2' }],
  });
  assert.equal(await page.locator('[data-act="again"]').count(), 1);
  await page.locator('[data-act="copyError"]').first().click();
  assert.deepEqual(await posted(page, 'copy'), [{ type: 'copy', text: 'The model is away.\nHTTP 503' }]);
  await page.locator('[data-act="again"]').click();
  assert.equal(await prompt(page).inputValue(), 'Fix it');
  assert.deepEqual(await posted(page, 'send'), []);
});

test('a file opens from its call at the line that was read or changed', async (context) => {
  const opened = structuredClone(OTHERS['reads-open'].state);
  opened.items.find((item) => item.kind === 'tool' && item.family === 'read').line = 30;
  const page = await shown(context, { ...opened, items: [...opened.items, EDIT] });
  await page.locator('[data-reads] > button').click();
  await page.locator('[data-reads] .sub [data-tool="Read"]').first().click();
  await page.locator('[data-tool="Edit"] [data-act="openFile"]').click();
  assert.deepEqual(
    (await posted(page, 'openFile')).map(({ path, line }) => [path.split('/').at(-1), line]),
    [
      ['app.ts', 30],
      ['app.ts', 18],
    ],
  );
});
