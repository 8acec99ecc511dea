import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  clock,
  duration,
  fact,
  firstSentence,
  lastLines,
  money,
  plain,
  split,
  thousands,
  visible,
  within,
} from '../../src/chat/view/format';
import { groupOf } from '../../src/chat/view/pages';

test('times are as long as they need to be', () => {
  assert.deepEqual([0, 7_000, 112_000, 3_725_000].map(clock), ['0:00', '0:07', '1:52', '1:02:05']);
  assert.deepEqual([1_100, 9_940, 9_960, 59_400, 59_600].map(duration), [
    '1.1 s',
    '9.9 s',
    '10 s',
    '59 s',
    '1:00',
  ]);
});

test('counts and amounts are short', () => {
  assert.deepEqual([999, 76_400, 200_000].map(thousands), ['999', '76k', '200k']);
  assert.deepEqual([999_600, 1_000_000, 1_250_000].map(thousands), ['1M', '1M', '1.3M']);
  assert.deepEqual([money(0.42, 'USD'), money(1, 'EUR')], ['$0.42', '1.00 EUR']);
  assert.deepEqual(
    [money(0, 'USD'), money(0.0042, 'USD'), money(0.00001, 'USD')],
    ['$0.00', '$0.0042', '$0.0001'],
  );
});

test('a path is seen from the folder, and one elsewhere stays whole', () => {
  assert.equal(within('/home/dev/app', '/home/dev/app/src/a.ts'), 'src/a.ts');
  assert.equal(within('/home/dev/app', '/home/dev/apple/a.ts'), '/home/dev/apple/a.ts');
  assert.equal(within('', '/etc/hosts'), '/etc/hosts');
  assert.deepEqual(split('src/limits/a.ts'), { base: 'a.ts', folder: 'src/limits' });
  assert.deepEqual(split('/a.ts'), { base: 'a.ts', folder: '' });
});

test('output cannot act: colours, titles and clipboard writes are taken out', () => {
  assert.equal(plain('ok\u001b]52;c;YWJj\u0007'), 'ok');
  assert.equal(plain('\u001b[31mred\u001b[0m \u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\'), 'red link');
  assert.equal(plain('10%\r50%\r100%\r\nnext'), '100%\nnext');
  assert.equal(plain('tab\tstays'), 'tab\tstays');
});

test('of a long output the last lines are shown and the others counted', () => {
  assert.deepEqual(lastLines('a\nb\nc\n', 2), { text: 'b\nc', before: 1 });
  assert.deepEqual(lastLines('', 2), { text: '', before: 0 });
});

test('a command shows what cannot be seen in it', () => {
  assert.equal(visible('ls\u200b -l'), 'ls⟨U+200B⟩ -l');
  assert.equal(visible(`ls${' '.repeat(60)}; rm x`), 'ls ⟨60 spaces⟩ ; rm x');
  assert.equal(visible('a\u202eb'), 'a⟨U+202E⟩b');
  assert.equal(visible('a \\\n\tb'), 'a \\\n\tb');
});

test('a fact is a name and what it is about', () => {
  assert.deepEqual(fact('writes: /tmp/a: b'), ['writes', '/tmp/a: b']);
  assert.deepEqual(fact('the target is not known'), ['', 'the target is not known']);
});

test('the first sentence is read out, without marks', () => {
  assert.equal(firstSentence('All **11** tests pass. More follows.'), 'All 11 tests pass.');
  assert.equal(firstSentence('# Title\nrest'), 'Title');
});

test('earlier conversations are grouped by calendar days', () => {
  const now = new Date(2026, 10, 30, 14, 20).getTime();
  const day = (date: number, hour: number) => new Date(2026, 10, date, hour).toISOString();
  assert.deepEqual(
    [day(30, 0), day(29, 23), day(25, 12), day(20, 12), undefined].map((time) => groupOf(time, now)),
    ['Today', 'Yesterday', 'Week', 'Earlier', 'Earlier'],
  );
});
