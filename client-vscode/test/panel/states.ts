/** Fixed states of the panel for its pictures: one believable task, cut at different moments. */

import type { Found } from '../../src/chat/messages';
import type { FileDiff, FileInfo, PermissionDetail, PermissionOption } from '../../src/protocol';
import type { AskItem, Chip, Item, Shell, ToolItem, ViewState } from '../../src/state';

/** The moment at which all pictures are taken. */
export const NOW = Date.UTC(2026, 10, 30, 14, 20);
const ROOT = '/home/dev/orders-api';
const at = (name: string) => `${ROOT}/${name}`;

const MODES = {
  currentModeId: 'default',
  availableModes: [
    { id: 'default', name: 'Ask', description: 'Asks before edits and commands' },
    {
      id: 'acceptEdits',
      name: 'Accept edits',
      description: 'Edits are applied and wait for review; commands are asked',
    },
    { id: 'plan', name: 'Plan', description: 'Reads only, then proposes a plan' },
    {
      id: 'bypassPermissions',
      name: 'Bypass',
      description: 'Nothing is asked. Only for throw-away machines',
    },
  ],
};

const MODELS = {
  currentModelId: 'claude-sonnet-4-5',
  availableModels: [
    { modelId: 'claude-opus-4-1', name: 'Opus 4.1', description: '200k, $15 / $75 a million tokens' },
    { modelId: 'claude-sonnet-4-5', name: 'Sonnet 4.5', description: '200k, $3 / $15 a million tokens' },
    { modelId: 'claude-haiku-4-5', name: 'Haiku 4.5', description: '200k, $1 / $5 a million tokens' },
  ],
};

const selection: Chip = {
  id: 'selection',
  kind: 'selection',
  name: 'app.ts',
  path: at('src/app.ts'),
  range: [10, 24],
  on: true,
};

const shell: Shell = {
  sessionId: 's1',
  title: 'Rate limit the public API',
  folder: 'orders-api',
  cwd: ROOT,
  running: false,
  waiting: null,
  queued: [],
  tasks: [],
  changes: [],
  redo: 0,
  modes: MODES,
  models: MODELS,
  usage: { used: 76_000, size: 200_000, cost: 0.42, currency: 'USD' },
  connection: { ready: true, model: 'claude-sonnet-4-5', source: 'ANTHROPIC_API_KEY' },
  server: { state: 'running', actions: [] },
  chips: [],
  history: { open: false, loading: false, sessions: [] },
  others: 0,
  sendWithCtrlEnter: false,
};

const state = (items: Item[], part: Partial<Shell> = {}): ViewState => ({
  items,
  shell: { ...shell, ...part },
});

const prompt: Item = {
  kind: 'user',
  id: 'u1',
  text: 'One client can starve the others. Add a per-client limit to these routes, 60 requests a minute, and answer 429 with Retry-After. The latency graph of last night is attached.',
  chips: [
    { id: 'c1', kind: 'selection', name: 'app.ts', path: at('src/app.ts'), range: [10, 24] },
    { id: 'c2', kind: 'image', name: 'latency.png' },
    { id: 'c3', kind: 'file', name: 'config.ts', path: at('src/config.ts') },
  ],
};
const thought: Item = {
  kind: 'thinking',
  id: 'th1',
  text: 'Where are the routers mounted?',
  message: 'm1',
  startedAt: NOW,
  ms: 8000,
  running: false,
};

const text = (id: string, words: string, streaming = false): Item => ({
  kind: 'text',
  id,
  text: words,
  message: id,
  streaming,
});
const intro = text(
  'x1',
  'Both public routers are mounted in `src/app.ts` with nothing in front of them, so a limiter belongs there, before the body parser. I will key it by API key and fall back to the client address.',
);
const BUCKET = `\`\`\`ts src/limits/tokenBucket.ts
export class TokenBucket {
  private tokens: number;
  private last = Date.now();

  constructor(
    private readonly capacity: number,
    private readonly perSecond: number,
  ) {
    this.tokens = capacity;
  }

  /** Seconds to wait, 0 when the call may go on. */
  take(now = Date.now()): number {
\`\`\`
`;

const tool = (id: string, name: string, part: Partial<ToolItem>): ToolItem => ({
  kind: 'tool',
  id,
  tool: name,
  family: 'read',
  status: 'done',
  target: '',
  output: '',
  cut: 0,
  diffs: [],
  startedAt: NOW,
  ...part,
});
const read = (id: string, name: string, note: string) =>
  tool(id, 'Read', { target: name, path: at(name), note, ms: 200 });
const reads: Item[] = [
  read('r1', 'src/app.ts', '48 lines'),
  read('r2', 'src/config.ts', '31 lines'),
  tool('r3', 'Grep', { family: 'search', target: 'express\\.Router\\(', note: '2 files', ms: 300 }),
  read('r4', 'src/routes/orders.ts', '112 lines'),
  read('r5', 'packages/shared/src/http/errors/responses.ts', '90 lines'),
  tool('r6', 'Glob', { family: 'search', target: '**/*limit*', note: 'none', ms: 100 }),
];

const bucketDiff: FileDiff = {
  path: at('src/limits/tokenBucket.ts'),
  added: 34,
  removed: 0,
  creates: true,
  lines: [
    'export class TokenBucket {',
    '  private tokens: number;',
    '  take(now = Date.now()): number {',
    '    const gained = ((now - this.last) / 1000) * this.perSecond;',
    '    this.tokens = Math.min(this.capacity, this.tokens + gained);',
    '    this.last = now;',
    ...Array.from({ length: 28 }, (_, index) => `    // line ${index}`),
  ].map((line, index) => ({ sign: '+', text: line, new: index + 1 })),
};
const appDiff: FileDiff = {
  path: at('src/app.ts'),
  added: 4,
  removed: 2,
  lines: [
    { sign: ' ', text: 'const app = express();', old: 16, new: 16 },
    { sign: ' ', text: '', old: 17, new: 17 },
    { sign: '-', text: 'app.use("/v1/orders", orders);', old: 18 },
    { sign: '-', text: 'app.use("/v1/invoices", invoices);', old: 19 },
    { sign: '+', text: 'const limit = rateLimit({ perMinute: config.publicLimit });', new: 18 },
    { sign: '+', text: '', new: 19 },
    { sign: '+', text: 'app.use("/v1/orders", limit, orders);', new: 20 },
    { sign: '+', text: 'app.use("/v1/invoices", limit, invoices);', new: 21 },
  ],
};
const write = tool('e1', 'Write', {
  family: 'edit',
  target: 'src/limits/tokenBucket.ts',
  path: bucketDiff.path,
  diffs: [bucketDiff],
});
export const EDIT = tool('e2', 'Edit', {
  family: 'edit',
  target: 'src/app.ts',
  path: appDiff.path,
  diffs: [appDiff],
});
const denied = tool('b1', 'Bash', { family: 'run', status: 'denied', target: 'docker compose up -d redis' });
const deniedAsk: AskItem = {
  kind: 'ask',
  id: 'q0',
  call: 'b1',
  detail: { id: 'q0', kind: 'command', tool: 'Bash', title: '', why: '' },
  options: [],
  answer: 'Deny: “No containers here. Keep the counters in memory for now.”',
  denied: true,
};
const failed = tool('b2', 'Bash', {
  family: 'run',
  status: 'failed',
  target: 'npx tsc --noEmit -p tsconfig.build.json',
  exitCode: 2,
  ms: 6000,
  output:
    "src/limits/rateLimit.ts:21:9 - error TS2322: Type 'string | string[] | undefined' is not assignable to type 'string'.",
});
const passed = tool('b3', 'Bash', {
  family: 'run',
  target: 'npx vitest run src/limits',
  ms: 9400,
  exitCode: 0,
  output: 'Tests  11 passed (11)',
});
const live = tool('b4', 'Bash', {
  family: 'run',
  status: 'running',
  target: 'npx vitest run src/limits --reporter=verbose',
  startedAt: NOW - 7000,
  cut: 33,
  output: [
    ...Array.from({ length: 5 }, (_, index) => `   ✓ earlier ${index}`),
    ' ✓ src/limits/tokenBucket.test.ts (6 tests) 41ms',
    '   ✓ starts full',
    '   ✓ refuses the 61st call in a minute',
    '   ✓ refills at one token a second',
    '   ✓ forgets clients that stay away',
    '   ✓ counts keys, not addresses',
    '   ✓ gives the seconds to wait',
    ' ❯ src/limits/rateLimit.test.ts 3/5',
  ].join('\n'),
});
const done = text(
  'x9',
  'All 11 tests pass. A client over the limit now gets **429** with the seconds to wait; the other routes are untouched.\n\nI left `src/routes/admin.ts` alone: it sits behind the VPN.',
);
const footDone: Item = {
  kind: 'foot',
  id: 'f1',
  running: false,
  startedAt: NOW,
  ms: 146_000,
  outcome: 'done',
};
const footLive: Item = { kind: 'foot', id: 'f1', running: true, startedAt: NOW - 112_000 };

const hunk = (id: string, line: number, words: string) => ({
  id,
  line,
  lines: 1,
  added: 1,
  removed: 0,
  text: words,
});
const changes: FileInfo[] = [
  {
    uri: '',
    path: bucketDiff.path,
    added: 34,
    removed: 0,
    creates: true,
    hunks: [hunk('h1', 1, 'export class TokenBucket {')],
  },
  {
    uri: '',
    path: appDiff.path,
    added: 6,
    removed: 2,
    hunks: [
      hunk('h2', 3, 'import { rateLimit } from "./limits/rateLimit";'),
      hunk('h3', 18, 'const limit = rateLimit({ perMinute: config.publicLimit });'),
      hunk('h4', 31, 'app.set("trust proxy", config.proxies);'),
    ],
  },
  {
    uri: '',
    path: at('packages/shared/src/http/errors/responses.ts'),
    added: 24,
    removed: 16,
    hunks: [
      hunk('h5', 42, 'export function tooMany(res: Response, seconds: number) {'),
      hunk('h6', 58, 'res.setHeader("Retry-After", Math.ceil(seconds));'),
      hunk('h7', 77, 'export const problem = (status: number) => status;'),
    ],
  },
];

const OPTIONS: PermissionOption[] = [
  { optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'allow_session', name: 'Allow for this session', kind: 'allow_always' },
  { optionId: 'allow_project', name: 'Allow in this project', kind: 'allow_always' },
  { optionId: 'allow_always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject_once', name: 'Deny', kind: 'reject_once' },
];
const commandDetail: PermissionDetail = {
  id: 'q1',
  kind: 'command',
  tool: 'Bash',
  title: 'Bash',
  why: 'rm -rf deletes files, and no rule allows it',
  dangerous: true,
  command:
    'cd packages/web && rm -rf dist .cache/vite && npm run build -- --mode production --outDir ../../deploy/public/assets/2026-11',
  description: 'Rebuild from a clean output folder',
  effects: ['writes: packages/web/dist', 'writes: packages/web/.cache/vite', 'contacts: registry.npmjs.org'],
  cause: 'rm -rf dist .cache/vite',
  rules: ['Bash(rm -rf dist .cache/vite)'],
  rulesEditable: true,
};
const askCommand: AskItem = { kind: 'ask', id: 'q1', call: 'b5', detail: commandDetail, options: OPTIONS };
const askEdit: AskItem = {
  kind: 'ask',
  id: 'q2',
  call: 'e2',
  options: OPTIONS,
  detail: {
    id: 'q2',
    kind: 'edit',
    tool: 'Edit',
    title: 'Edit',
    why: 'Edits are asked in this mode',
    diffs: [appDiff],
    rules: ['Edit(src/**)'],
    rulesEditable: true,
  },
};

const streaming = state([prompt, ...reads, write, live, footLive], {
  running: true,
  changes,
  queued: [
    { id: 'w1', text: 'Also log the key’s last four characters when a client is limited' },
    { id: 'w2', text: 'Then update the changelog' },
  ],
});

const sessions = [
  {
    sessionId: 's1',
    cwd: ROOT,
    title: 'Rate limit the public API',
    updatedAt: new Date(NOW - 60_000).toISOString(),
  },
  {
    sessionId: 's2',
    cwd: ROOT,
    title: 'Flaky invoice test on CI',
    updatedAt: new Date(NOW - 7_200_000).toISOString(),
  },
  {
    sessionId: 's3',
    cwd: ROOT,
    title: 'Move config to zod schemas',
    updatedAt: new Date(NOW - 86_400_000).toISOString(),
  },
  {
    sessionId: 's4',
    cwd: ROOT,
    title: 'Explain the retry queue in packages/jobs and why it backs off',
    updatedAt: new Date(NOW - 6 * 86_400_000).toISOString(),
  },
];

export interface Scene {
  state: ViewState;
  /** What comes after, as later states; sent as the patches that the extension would send. */
  then?: ViewState[];
  locale?: 'en' | 'zh-cn';
  /** What the person does before the picture: clicks on selectors, or text typed into the prompt. */
  click?: string[];
  type?: string;
  /** What the extension answers to the mention that was typed. */
  found?: Found[];
  press?: string;
  height?: number;
}

const words =
  '- `take()` returns the seconds to wait, so the middleware can set `Retry-After` without asking again.\n- Buckets live in a `Map`, idle ones are dropped after ten min';
const growing = (length: number) => text('x2', `${BUCKET}\n${words}`.slice(0, length), true);

/** The eight that are looked at. */
export const SCENES: Record<string, Scene> = {
  '1-start': {
    state: state([], {
      title: '',
      chips: [selection],
      usage: null,
      history: { open: false, loading: false, sessions },
    }),
  },
  '2-answer': {
    state: state(
      [prompt, thought, intro, ...reads, write, deniedAsk, denied, failed, passed, EDIT, done, footDone],
      { changes },
    ),
    height: 1420,
  },
  '3-permission-command': {
    state: state([prompt, intro, askCommand, footLive], { running: true, waiting: 'q1', changes }),
  },
  '4-permission-edit': {
    state: state([text('x3', 'Now the two routers go behind the limiter.'), askEdit, footLive], {
      running: true,
      waiting: 'q2',
    }),
  },
  '5-streaming-queue': {
    state: { ...streaming, items: [prompt, ...reads, growing(40), live, footLive] },
    then: [120, 300, 9999].map((length) => ({
      ...streaming,
      items: [prompt, ...reads, live, growing(length), footLive],
    })),
    type: 'and mention it in docs/api/errors.md',
  },
  '6-changes': { state: state([done, footDone], { changes }), click: ['[data-strip="changes"] .tog'] },
  '7-notices': {
    state: state(
      [
        text(
          'x4',
          'Next the middleware. I keep the key lookup in one function so that the proxy rule has one place.',
        ),
        { ...failed, id: 'b9' },
        { kind: 'foot', id: 'f0', running: false, startedAt: NOW, ms: 38_000, outcome: 'failed' },
        {
          kind: 'notice',
          id: 'n1',
          severity: 'error',
          text: 'The key was refused (401): invalid x-api-key',
          actions: [
            { label: 'Enter another key', command: 'sidelight.setKey' },
            { label: 'Show log', command: 'sidelight.showLog' },
          ],
        },
        {
          kind: 'notice',
          id: 'n2',
          severity: 'warning',
          text: 'PostToolUse: .claude/hooks/lint.sh ended with 1',
          detail: 'eslint: not found. The edit stays.',
          actions: [],
        },
        { kind: 'user', id: 'u2', text: 'Go on, the key is a new one.', chips: [] },
        {
          kind: 'retry',
          id: 'n3',
          attempt: 3,
          delayMs: 14_000,
          until: NOW + 8000,
          cause: 'The model’s server is overloaded (529)',
        },
        { ...footLive, startedAt: NOW - 9000 },
      ],
      { running: true, usage: { used: 32_000, size: 200_000, cost: 0.42 } },
    ),
  },
  '8-chinese': {
    state: state(
      [
        { ...prompt, text: '某个客户端会拖垮其他客户端。给这些路由加上按客户端的限流。' },
        ...reads,
        text('x5', '两个公开路由都挂在 `src/app.ts` 里，前面没有任何保护。'),
        {
          ...askCommand,
          detail: {
            ...commandDetail,
            why: 'rm -rf 会删除文件，且没有规则允许',
            description: '清空输出目录后重新构建',
            effects: [
              '写入: packages/web/dist',
              '写入: packages/web/.cache/vite',
              '联系: registry.npmjs.org',
            ],
          },
          options: [
            { optionId: 'allow_once', name: '允许一次', kind: 'allow_once' },
            { optionId: 'allow_session', name: '本次会话允许', kind: 'allow_always' },
            { optionId: 'allow_project', name: '在此项目中允许', kind: 'allow_always' },
            { optionId: 'allow_always', name: '始终允许', kind: 'allow_always' },
            { optionId: 'reject_once', name: '拒绝', kind: 'reject_once' },
          ],
        },
        footLive,
      ],
      {
        title: '为公开 API 限流',
        running: true,
        waiting: 'q1',
        changes,
        queued: [{ id: 'w1', text: '然后更新变更日志' }],
        modes: { currentModeId: 'default', availableModes: [{ id: 'default', name: '询问' }] },
      },
    ),
    locale: 'zh-cn',
    height: 860,
  },
};

const found = (name: string, folder: string, hits: number[], part: Partial<Found> = {}): Found => ({
  kind: 'file',
  name,
  detail: folder,
  path: at(`${folder}/${name}`),
  insert: `${folder}/${name}`,
  hits,
  ...part,
});
export const FOUND = [
  found('tokenBucket.ts', 'src/limits', [0, 1, 2], { open: true }),
  found('tokenBucket.test.ts', 'src/limits', [0, 1, 2]),
  found('verifyToken.ts', 'packages/auth/src/middleware', [6, 7, 8]),
  found('tokens', 'packages/auth/src', [0, 1, 2], { kind: 'folder', insert: 'packages/auth/src/tokens/' }),
];
const PARTS = { fresh: 1_200, cacheRead: 61_000, cacheWrite: 12_600, output: 1_200 };
const filled = { used: 76_000, size: 200_000, cost: 0.42, currency: 'USD', parts: PARTS };

/** More that are checked, without a picture that is kept. */
export const OTHERS: Record<string, Scene> = {
  'no-model': {
    state: state([], {
      title: '',
      usage: null,
      connection: {
        ready: false,
        problem: 'No key and no server was found. Set ANTHROPIC_API_KEY, or start a server on port 8080.',
        tried: ['ANTHROPIC_API_KEY is not set', '127.0.0.1:8080 does not answer'],
      },
    }),
    click: ['.btns [aria-expanded]'],
  },
  demonstration: {
    state: state([], {
      title: '',
      usage: null,
      connection: { ready: true, model: 'prewritten replies', demonstration: true },
    }),
  },
  'server-stopped': {
    state: state([], {
      title: '',
      server: {
        state: 'stopped',
        problem: 'Python 3.11 or newer was not found.',
        actions: [{ label: 'Choose an interpreter', command: 'sidelight.chooseInterpreter' }],
      },
    }),
  },
  'no-folder': { state: state([], { title: '', folder: null, cwd: '' }) },
  history: { state: state([], { history: { open: true, loading: false, sessions } }) },
  'mode-menu': { state: state([done, footDone], { changes }), click: ['[data-act="mode"]'] },
  mention: {
    state: state([], { title: '', usage: null, chips: [selection] }),
    type: 'Cover the edge cases of @tok',
    found: FOUND,
  },
  commands: { state: state([], { title: '', usage: null }), type: '/' },
  'model-menu': { state: state([done, footDone], { changes }), click: ['[data-act="model"]'] },
  context: { state: state([done, footDone], { usage: filled }), click: ['[data-act="context"]'] },
  help: { state: state([done, footDone]), type: '/help', press: 'Enter', height: 860 },
  rule: {
    state: state([askCommand, footLive], { running: true, waiting: 'q1' }),
    click: ['[data-option="allow_project"]'],
  },
  'queue-edit': { state: streaming, click: ['[data-act="queueEdit"]'] },
  undone: { state: state([done, footDone], { redo: 3 }) },
  bypass: {
    state: state([done, footDone], { modes: { ...MODES, currentModeId: 'bypassPermissions' }, others: 2 }),
  },
  'reads-open': {
    state: state([prompt, ...reads, passed, done, footDone]),
    click: ['[data-reads] > button', '[data-tool="Bash"] .head .row'],
  },
  'edit-command': {
    state: state([askCommand, footLive], { running: true, waiting: 'q1' }),
    click: ['[data-option="edit"]'],
  },
  tall: {
    state: streaming,
    then: [
      state([prompt, intro, ...reads, write, EDIT, askCommand, footLive], { running: true, waiting: 'q1' }),
    ],
    height: 420,
  },
};
