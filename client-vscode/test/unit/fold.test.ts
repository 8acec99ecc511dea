import assert from 'node:assert/strict';
import { test } from 'node:test';

import { announcements } from '../../src/chat/view/announce';
import { fold, type Happening } from '../../src/fold';
import { apply, difference } from '../../src/patch';
import type { BackgroundTask, PermissionDetail, PermissionOption, State } from '../../src/protocol';
import { type Conversation, emptyConversation, type Item, type ViewState } from '../../src/state';
import { type Known, viewState } from '../../src/viewState';

const MODES = {
  currentModeId: 'default',
  availableModes: [
    { id: 'default', name: 'Ask' },
    { id: 'plan', name: 'Plan' },
  ],
};
const OPTIONS: PermissionOption[] = [{ optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' }];
const detail: PermissionDetail = {
  id: 'q',
  kind: 'command',
  tool: 'Bash',
  title: 'Bash',
  why: 'It is not on the list',
  command: 'rm -rf dist',
};

const state = (name: State['state'], part: Partial<State> = {}): Happening => ({
  kind: 'state',
  state: { sessionId: 's', state: name, ...part },
  at: 1000,
});
const update = (fields: object, at = 1000): Happening => ({ kind: 'update', update: { ...fields }, at });
const chunk = (text: string, messageId = 'm') =>
  update({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } });
const call = (fields: object) =>
  update({ sessionUpdate: 'tool_call_update', toolCallId: 't', ...fields }, 3000);
const started = update({
  sessionUpdate: 'tool_call',
  toolCallId: 't',
  kind: 'execute',
  rawInput: { command: 'npm test' },
  _meta: { sidelight: { tool: 'Bash', summary: 'npm test' } },
});
const files = (hunks: number): Happening => ({
  kind: 'changes',
  files: [
    {
      uri: 'file:///a',
      path: '/a',
      added: 1,
      removed: 0,
      hunks: Array.from({ length: hunks }, (_, line) => ({
        id: `h${line}`,
        line,
        lines: 1,
        added: 1,
        removed: 0,
        text: '',
      })),
    },
  ],
});

/** Every state on the way, the empty one first. */
function way(...happenings: Happening[]): Conversation[] {
  let conversation = emptyConversation('s', { modes: MODES });
  return [conversation, ...happenings.map((one) => (conversation = fold(conversation, one)))];
}
const after = (...happenings: Happening[]) => way(...happenings).at(-1) ?? emptyConversation('s');

const KNOWN: Omit<Known, 'conversation'> = {
  others: [],
  cwd: '/',
  folder: 'app',
  sendWithCtrlEnter: false,
  connection: { ready: true },
  server: { state: 'running', actions: [] },
  chips: [],
  history: { open: false, loading: false, sessions: [] },
};
const view = (conversation: Conversation): ViewState => viewState({ ...KNOWN, conversation });

const TURN: Happening[] = [
  { kind: 'sent', id: 'u', text: 'go', chips: [] },
  state('running', { turnId: '1' }),
  chunk('Hel'),
  chunk('lo. More.'),
  started,
  { kind: 'asked', call: 't', detail, options: OPTIONS },
  { kind: 'answered', id: 'q', answer: 'Allow once', denied: false },
  call({ status: 'in_progress', _meta: { sidelight: { outputDelta: 'one\n' } } }),
  call({ _meta: { sidelight: { outputDelta: 'two' } } }),
  call({ status: 'completed', _meta: { sidelight: { outcome: 'done', durationMs: 1500, exitCode: 0 } } }),
  files(2),
  state('running', { turnId: '1', queued: [{ id: 'w', text: 'next' }] }),
  state('idle', { durationMs: 5000 }),
  { kind: 'ended', stopReason: 'end_turn' },
];

test('a turn folds into prompt, text, answered question, call and foot', () => {
  const items: Item[] = [
    { kind: 'user', id: 'u', text: 'go', chips: [], local: true },
    { kind: 'text', id: 'text:2', text: 'Hello. More.', message: 'm', streaming: false },
    { kind: 'ask', id: 'q', call: 't', detail, options: OPTIONS, answer: 'Allow once', denied: false },
    {
      kind: 'tool',
      id: 't',
      tool: 'Bash',
      family: 'run',
      status: 'done',
      target: 'npm test',
      output: 'one\ntwo',
      cut: 0,
      diffs: [],
      startedAt: 1000,
      ms: 1500,
      exitCode: 0,
    },
    { kind: 'foot', id: 'foot:1', running: false, startedAt: 1000, ms: 5000, outcome: 'done' },
  ];
  assert.deepEqual(after(...TURN).items, items);
});

test('the patches of a turn, applied one after the other, give its every state', () => {
  const states = way(...TURN).map(view);
  let mine = states[0] ?? view(emptyConversation('s'));
  for (const [index, next] of states.entries()) {
    const patch = difference(states[Math.max(0, index - 1)] ?? next, next);
    if (patch) mine = apply(mine, patch);
    assert.deepEqual(mine, next, `after ${index} messages`);
  }
});

test('a streamed word costs a word', () => {
  const [before, now] = way(...TURN.slice(0, 4))
    .slice(-2)
    .map(view);
  assert.ok(before && now);
  assert.deepEqual(difference(before, now), { grown: [{ id: 'text:2', text: 'lo. More.' }] });
  assert.equal(difference(now, now), undefined);
});

test('what did not change is still the same object after a patch', () => {
  const [before, now] = way(...TURN.slice(0, 4))
    .slice(-2)
    .map(view);
  assert.ok(before && now);
  const patch = difference(before, now);
  assert.equal(apply(before, patch ?? {}).items[0], before.items[0]);
});

test('when the server is lost nothing runs and open questions are closed', () => {
  const lost = after(...TURN.slice(0, 6), { kind: 'lost', answer: 'Closed' });
  const kinds = lost.items.map((item) => [
    item.kind,
    'status' in item ? item.status : 'answer' in item ? item.answer : '',
  ]);
  assert.deepEqual(kinds, [
    ['user', ''],
    ['text', ''],
    ['ask', 'Closed'],
    ['tool', 'stopped'],
    ['foot', ''],
  ]);
  assert.equal(lost.running, false);
});

test('background tasks are those that the server told last, and none when it is lost', () => {
  const task: BackgroundTask = {
    id: 's1',
    kind: 'shell',
    command: 'npm start',
    description: 'Start the server',
    toolUseId: 'toolu_1',
    status: 'running',
    startedAt: 1000,
    outputFile: '/tmp/out.txt',
  };
  const told: Happening = { kind: 'tasks', tasks: [task] };
  assert.deepEqual(after(told).tasks, [task]);
  assert.deepEqual(after(told, { kind: 'tasks', tasks: [] }).tasks, []);
  assert.deepEqual(after(told, { kind: 'lost', answer: 'Closed' }).tasks, []);
});

test('a retry is shown until something else happens', () => {
  const retry: Happening = { kind: 'retry', attempt: 2, delayMs: 4000, cause: 'overloaded', at: 1000 };
  const waiting = after(state('running'), retry);
  assert.deepEqual(waiting.items[0], {
    kind: 'retry',
    id: 'retry:1',
    attempt: 2,
    delayMs: 4000,
    until: 5000,
    cause: 'overloaded',
  });
  assert.equal(
    fold(waiting, chunk('x')).items.some((item) => item.kind === 'retry'),
    false,
  );
});

test('few things are read out in a turn, each once', () => {
  const states = way(...TURN).map(view);
  const said = states.slice(1).map((next, index) => announcements(states[index] ?? next, next));
  assert.deepEqual(
    said.flatMap((one) => one.polite),
    ['Working', '1 file, 2 hunks to review', '1 queued', 'Hello.'],
  );
  assert.deepEqual(
    said.flatMap((one) => one.alert ?? []),
    ['Sidelight needs an answer. Run this command? rm -rf dist Alt+A goes there.'],
  );
});

test('an error that ends a turn and a new mode are read out', () => {
  const running = after(state('running'));
  const failed = fold(running, state('idle', { error: 'The key was refused' }));
  assert.equal(announcements(view(running), view(failed)).alert, 'The key was refused');
  const planned = fold(running, update({ sessionUpdate: 'current_mode_update', currentModeId: 'plan' }));
  assert.deepEqual(announcements(view(running), view(planned)), { polite: ['Mode: Plan'] });
});

test('the meter shows what a conversation costs, and says so where no price is known', () => {
  const usage = { sessionUpdate: 'usage_update', used: 10, size: 100 };
  const priced = fold(
    emptyConversation('s'),
    update({ ...usage, cost: { amount: 0.5, currency: 'USD' }, _meta: { sidelight: { model: 'm' } } }),
  );
  assert.deepEqual(priced.usage, { used: 10, size: 100, model: 'm', cost: 0.5, currency: 'USD' });
  const unknown = fold(priced, update({ ...usage, used: 20, _meta: { sidelight: { priceUnknown: true } } }));
  assert.deepEqual(unknown.usage, { used: 20, size: 100, priceUnknown: true });
});
