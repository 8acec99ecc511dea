/** Hunks that wait, of several conversations in one editor. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { countWaiting, hunkAt, nextHunk, type Pending, waitingHunks } from '../../src/host/hunks';
import type { HunkInfo } from '../../src/protocol';

function hunk(id: string, line: number, part: Partial<HunkInfo> = {}): HunkInfo {
  return { id, line, lines: 1, added: 1, removed: 1, text: id, ...part };
}

function pending(sessionId: string, uri: string, ...hunks: HunkInfo[]): Pending {
  return { sessionId, file: { uri, path: uri, added: 1, removed: 1, hunks } };
}

const all = [
  pending('first', 'file:///a', hunk('a7', 7), hunk('a9', 9, { state: 'kept' })),
  pending('second', 'file:///a', hunk('a2', 2, { lines: 2 })),
  pending('second', 'file:///b', hunk('b4', 4, { state: 'undone' })),
];

test('hunks of all conversations stand in the order of their lines, each with its own', () => {
  const found = waitingHunks(all.slice(0, 2)).map(({ sessionId, id }) => [sessionId, id]);
  assert.deepEqual(found, [
    ['second', 'a2'],
    ['first', 'a7'],
  ]);
});

test('a file that two conversations changed counts once, a settled hunk not at all', () => {
  assert.deepEqual(countWaiting(all), { files: 1, hunks: 2 });
  assert.deepEqual(countWaiting([]), { files: 0, hunks: 0 });
});

test('a hunk is found by a line that it covers or touches, and by going on around the file', () => {
  const hunks = waitingHunks(all);
  assert.deepEqual(
    [1, 3, 5, 7].map((line) => hunkAt(hunks, line, line)?.id),
    ['a2', 'a2', undefined, 'a7'],
  );
  assert.deepEqual(
    [nextHunk(hunks, 2, 1)?.id, nextHunk(hunks, 7, 1)?.id, nextHunk(hunks, 2, -1)?.id],
    ['a7', 'a2', 'a7'],
  );
});
