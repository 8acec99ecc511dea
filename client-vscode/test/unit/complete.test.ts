/** What opens the lists of the prompt, how files are found, and how a transcript's changes travel. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { tokenAt } from '../../src/chat/view/complete';
import { fuzzy, fuzzyPath } from '../../src/host/fuzzy';
import { apply, difference } from '../../src/patch';
import type { Item, Shell, ViewState } from '../../src/state';

const at = (text: string) => tokenAt(text, text.length);

test('a mention begins after a blank, a line or a word of Chinese, not inside a word or an address', () => {
  assert.deepEqual(at('see @tok'), { kind: '@', start: 4, query: 'tok' });
  assert.deepEqual(at('@'), { kind: '@', start: 0, query: '' });
  assert.deepEqual(at('one\n@src/a.ts'), { kind: '@', start: 4, query: 'src/a.ts' });
  assert.deepEqual(at('请看@限流'), { kind: '@', start: 2, query: '限流' });
  assert.equal(at('mail a.b@example.org'), undefined);
  assert.equal(at('npm i lodash@4'), undefined);
  assert.equal(at('see @tok and'), undefined);
  assert.equal(at('@types/@node'), undefined);
});

test('a command is one only as the whole prompt', () => {
  assert.deepEqual(at('/ne'), { kind: '/', start: 0, query: 'ne' });
  assert.equal(at('/ne w'), undefined);
  assert.equal(at('see /ne'), undefined);
  assert.equal(tokenAt('/new more', 4), undefined);
  assert.equal(at('/etc/hosts'), undefined);
});

test('letters are found in order, best in one piece and at the start of a word', () => {
  assert.deepEqual(fuzzy('tb', 'tokenBucket')?.hits, [0, 5]);
  assert.deepEqual(fuzzy('buck', 'tokenBucket')?.hits, [5, 6, 7, 8]);
  assert.equal(fuzzy('xyz', 'tokenBucket'), undefined);
  assert.deepEqual(fuzzy('', 'any'), { score: 0, hits: [] });
  assert.deepEqual(fuzzy('限', '😀限流.md')?.hits, [1]);
});

test('a name that begins with the query goes first, then a name that holds it, then a path', () => {
  const paths = ['tok/else.ts', 'auth/verifyToken.ts', 'src/tokenBucket.test.ts', 'src/tokenBucket.ts'];
  const score = (path: string) => fuzzyPath('tok', path)?.score ?? 0;
  assert.deepEqual(
    [...paths].sort((a, b) => score(b) - score(a)),
    ['src/tokenBucket.ts', 'src/tokenBucket.test.ts', 'auth/verifyToken.ts', 'tok/else.ts'],
  );
  assert.deepEqual(fuzzyPath('src/tok', 'src/tokenBucket.ts')?.hits, [0, 1, 2]);
});

const shell = {} as Shell;
const user = (id: string, text = id): Item => ({ kind: 'user', id, text, chips: [] });
const said = (id: string, text: string): Item => ({ kind: 'text', id, text, message: id, streaming: true });
const state = (...items: Item[]): ViewState => ({ items, shell });

test('an item that is added costs itself, wherever it goes, and the other side comes to the same', () => {
  const many = Array.from({ length: 5000 }, (_, index) => user(`u${index}`));
  const foot = user('foot');
  const before = state(...many, said('t', 'one'), foot);
  const after = state(...many, said('t', 'one two'), user('new'), foot);
  const patch = difference(before, after);
  assert.ok(patch);
  assert.deepEqual(patch, {
    items: [user('new')],
    grown: [{ id: 't', text: ' two' }],
    splice: { at: 5001, remove: 0, ids: ['new'] },
  });
  assert.deepEqual(apply(before, patch), after);
});

test('items that move, go and come are in their places on the other side', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => user(id));
  for (const [from, to] of [
    [
      [a, b, c, d],
      [a, c, b, d],
    ],
    [
      [a, b, c, d],
      [a, d],
    ],
    [
      [a, d],
      [b, a, c, d],
    ],
    [[], [a, b]],
    [[a, b], []],
  ] as [Item[], Item[]][]) {
    const patch = difference(state(...from), state(...to));
    assert.deepEqual(apply(state(...from), patch ?? {}).items, to);
  }
});
