/** What opens above the composer: modes, models, what fills the context, and help. */

import { html, nothing, svg, type TemplateResult } from 'lit-html';

import type { ModelInfo } from '../../protocol';
import type { Shell, Usage } from '../../state';
import type { App } from './app';
import { commands } from './commands';
import { exact, money, thousands } from './format';
import { icon } from './icons';
import { t } from './l10n';
import { choice, choices } from './menu';
import { modeMenu } from './modeMenu';
import { iconButton, type Piece } from './parts';

export function popover(app: App): Piece {
  switch (app.ui.menu) {
    case 'mode':
      return modeMenu(app);
    case 'model':
      return modelMenu(app);
    case 'context':
      return contextDialog(app);
    case 'help':
      return helpDialog(app);
    case null:
      return nothing;
  }
}

// --- the model ---

/** The model that answers, as people call it; empty when there is none. */
export function modelName({ connection, models }: Shell): string {
  if (connection?.ready !== true) return '';
  if (connection.demonstration) return t('Demonstration');
  const current = models?.availableModels.find((model) => model.modelId === models.currentModelId);
  return current?.name ?? models?.currentModelId ?? connection.model ?? '';
}

function modelMenu(app: App): TemplateResult {
  const { models, running } = app.state.shell;
  const item = (model: ModelInfo) => {
    const current = model.modelId === models?.currentModelId;
    return choice({
      current,
      mark: icon(current ? 'check' : 'blank'),
      name: html`<span>${model.name}</span>`,
      hint: model.description ?? '',
      id: model.modelId,
      choose: () => {
        if (!current) app.post({ type: 'model', id: model.modelId });
        app.menu(null, true);
      },
    });
  };
  const settings = html`<button
    class="mi"
    type="button"
    role="menuitem"
    tabindex=${models ? -1 : 0}
    data-choice="settings"
    @click=${() => {
      app.post({ type: 'command', command: 'sidelight.chooseModel' });
      app.menu(null, true);
    }}
  >
    ${icon('blank')}<span>${t('Default model, in the settings')}</span>
  </button>`;
  const note = running
    ? t('A turn is running: another model can be chosen when it has ended')
    : t('Another model reads the conversation anew, so its first answer costs more');
  return choices(app, t('Model'), [...(models?.availableModels ?? []).map(item), settings], note);
}

// --- context and cost ---

function dialog(app: App, label: string, content: TemplateResult): TemplateResult {
  const key = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    app.menu(null, true);
  };
  return html`<div class="pop start" role="dialog" aria-label=${label} tabindex="0" data-menu @keydown=${key}>
    <div class="sheet">
      <h2><span>${label}</span>${iconButton('x', t('Close'), 'closeMenu', () => app.menu(null, true))}</h2>
      ${content}
    </div>
  </div>`;
}

interface Share {
  colour: string;
  name: string;
  tokens: number;
}

/** The last request by where its tokens came from; without that, what is used as one. */
export function shares({ used, parts }: Usage): Share[] {
  if (!parts) return [{ colour: 'c1', name: t('In use'), tokens: used }];
  return [
    { colour: 'c1', name: t('Read from the cache'), tokens: parts.cacheRead },
    { colour: 'c2', name: t('Written to the cache'), tokens: parts.cacheWrite },
    { colour: 'c4', name: t('Sent anew'), tokens: parts.fresh },
    { colour: 'c3', name: t('Answered'), tokens: parts.output },
  ];
}

function shareRow(share: Share, size: number): TemplateResult {
  const percent = size > 0 ? Math.round((share.tokens / size) * 100) : 0;
  return html`<tr>
    <th scope="row"><span class="sw ${share.colour}"></span>${share.name}</th>
    <td>${exact(share.tokens)}</td>
    <td>${percent}%</td>
  </tr>`;
}

function costRow(name: string, value: string): TemplateResult {
  return html`<div class="kv"><span>${name}</span><span class="num">${value}</span></div>`;
}

function contextDialog(app: App): TemplateResult {
  const { usage, connection } = app.state.shell;
  if (!usage) {
    const none = html`<p class="muted small">${t('Nothing was sent yet in this conversation.')}</p>`;
    return dialog(app, t('Context and cost'), none);
  }
  const all = shares(usage);
  const free = { colour: 'c0', name: t('Free'), tokens: Math.max(0, usage.size - usage.used) };
  const width = (tokens: number) => (usage.size > 0 ? Math.min(100, (tokens / usage.size) * 100) : 0);
  const model = usage.model ?? connection?.model;
  const cost = usage.cost === undefined ? t('not known') : money(usage.cost, usage.currency ?? 'USD');
  return dialog(
    app,
    t('Context and cost'),
    html`<p class="num muted small">
        ${t('{0} of {1} tokens of the context are used', thousands(usage.used), thousands(usage.size))}
      </p>
      <svg class="stack" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 6">
        ${stack(all.map((share) => ({ ...share, width: width(share.tokens) })))}
      </svg>
      <table class="brk">
        <caption class="sr">
          ${t('What fills the context')}
        </caption>
        <tbody>
          ${[...all, free].map((share) => shareRow(share, usage.size))}
        </tbody>
      </table>
      <hr />
      ${costRow(t('This conversation'), cost)}${model ? costRow(t('Model'), model) : nothing}`,
  );
}

function stack(all: (Share & { width: number })[]): TemplateResult[] {
  let at = 0;
  return all.map(({ colour, width }) => {
    at += width;
    return svg`<rect class=${colour} x=${at - width} y="0" width=${width} height="6"/>`;
  });
}

// --- help ---

const KEYS: readonly [string, () => string][] = [
  ['@', () => t('Mention a file, a folder or the selection')],
  ['/', () => t('Choose a command')],
  ['Shift+Enter', () => t('A new line')],
  ['Esc', () => t('Close what is open, else stop')],
  ['Alt+A', () => t('To the question that waits')],
  ['Alt+M', () => t('Next mode')],
  ['Alt+K', () => t('Mention the selection here')],
  ['Ctrl+Esc', () => t('Between editor and prompt')],
  ['PgUp PgDn', () => t('From message to message')],
  ['Ctrl+End', () => t('To the latest message')],
];

function helpDialog(app: App): TemplateResult {
  const send = app.state.shell.sendWithCtrlEnter ? 'Ctrl+Enter' : 'Enter';
  const known: [string, string][] = [
    [send, t('Send')],
    ...KEYS.map(([key, words]): [string, string] => [key, words()]),
  ];
  return dialog(
    app,
    t('Keys and commands'),
    html`<div class="keys">${known.map(([key, words]) => html`<kbd>${key}</kbd><span>${words}</span>`)}</div>
      <hr />
      <div class="keys">
        ${commands(app, '').map(({ name, words }) => html`<code>/${name}</code><span>${words}</span>`)}
      </div>`,
  );
}
