import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DEAF_MS, hears, rowsOf } from '../../src/chat/view/askCard';
import { panelKey } from '../../src/chat/view/keys';
import { nextMode } from '../../src/chat/view/modeMenu';
import { promptKey } from '../../src/chat/view/prompt';
import { atEnd } from '../../src/chat/view/scroll';
import type { PermissionOption } from '../../src/protocol';

const none = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, isComposing: false };
const press = (key: string, part: Partial<typeof none> & { code?: string } = {}) => ({
  ...none,
  key,
  code: '',
  ...part,
});
const card = { inCard: true, inField: false, inLog: true };
const field = { inCard: true, inField: true, inLog: true };
const elsewhere = { inCard: false, inField: false, inLog: false };

test('a digit answers only inside the card and outside its fields', () => {
  assert.deepEqual(panelKey(press('2'), card), { answer: 2 });
  assert.equal(panelKey(press('2'), field), undefined);
  assert.equal(panelKey(press('2'), elsewhere), undefined);
  assert.equal(panelKey(press('0'), card), undefined);
  assert.equal(panelKey(press('2', { ctrlKey: true }), card), undefined);
});

test('Alt+A and Alt+M work everywhere, whatever the layout makes of the letter', () => {
  assert.equal(panelKey(press('å', { altKey: true, code: 'KeyA' }), field), 'question');
  assert.equal(panelKey(press('µ', { altKey: true, code: 'KeyM' }), elsewhere), 'mode');
});

test('a key of an input method is nobody else’s', () => {
  assert.equal(panelKey(press('Escape', { isComposing: true }), field), undefined);
  assert.equal(promptKey(press('Enter', { isComposing: true }), false, false), undefined);
});

test('Escape asks to stop or close, also from a field', () => {
  assert.equal(panelKey(press('Escape'), field), 'escape');
});

test('Home and End go to the first and last message, Ctrl+End to the end of the conversation', () => {
  assert.equal(panelKey(press('Home'), card), 'first');
  assert.equal(panelKey(press('End'), card), 'last');
  assert.equal(panelKey(press('End'), field), undefined);
  assert.equal(panelKey(press('End', { ctrlKey: true }), elsewhere), 'end');
  assert.equal(panelKey(press('End', { ctrlKey: true }), field), undefined);
});

test('Page Up and Down go by messages in the transcript alone', () => {
  assert.equal(panelKey(press('PageUp'), card), 'older');
  assert.equal(panelKey(press('PageDown'), elsewhere), undefined);
});

test('Enter sends and Shift+Enter makes a line; the setting swaps that with Ctrl+Enter', () => {
  assert.equal(promptKey(press('Enter'), false, false), 'send');
  assert.equal(promptKey(press('Enter', { shiftKey: true }), false, false), undefined);
  assert.equal(promptKey(press('Enter', { ctrlKey: true }), false, false), 'newline');
  assert.equal(promptKey(press('Enter'), true, false), undefined);
  assert.equal(promptKey(press('Enter', { metaKey: true }), true, false), 'send');
});

test('Up brings back the last prompt only when nothing is written', () => {
  assert.equal(promptKey(press('ArrowUp'), false, true), 'last');
  assert.equal(promptKey(press('ArrowUp'), false, false), undefined);
});

test('a card does not hear what was meant for the place where it appeared', () => {
  assert.equal(hears(undefined, 10_000), false);
  assert.equal(hears(1000, 1000 + DEAF_MS - 1), false);
  assert.equal(hears(1000, 1000 + DEAF_MS), true);
});

test('a no has its own place, all other answers are rows in order', () => {
  const option = (optionId: string, kind: PermissionOption['kind']) => ({ optionId, name: optionId, kind });
  const once = option('once', 'allow_once');
  const session = option('session', 'allow_always');
  const deny = option('deny', 'reject_once');
  assert.deepEqual(rowsOf([once, deny, session]), { rows: [once, session], deny });
  assert.deepEqual(rowsOf([once]), { rows: [once] });
});

test('Alt+M goes round the modes that ask, never to one that does not', () => {
  const all = ['default', 'acceptEdits', 'plan', 'auto', 'bypassPermissions'];
  const modes = (currentModeId: string, ids = all) => ({
    currentModeId,
    availableModes: ids.map((id) => ({ id, name: id })),
  });
  assert.deepEqual(
    all.map((id) => nextMode(modes(id))),
    ['acceptEdits', 'plan', 'default', 'default', 'default'],
  );
  assert.equal(nextMode(modes('default', ['default'])), undefined);
});

test('the end counts as in view within eight pixels', () => {
  const log = (scrollTop: number) => ({ scrollHeight: 1000, clientHeight: 400, scrollTop });
  assert.equal(atEnd(log(592)), true);
  assert.equal(atEnd(log(591)), false);
});
