/** The question card: everything that is needed to decide, answers as rows, a no with words. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { PermissionDetail, PermissionOption } from '../../protocol';
import type { AskItem } from '../../state';
import type { App } from './app';
import type { Question } from './articles';
import { isLasting, openRule, ruleBox } from './askRule';
import { fact, visible, within } from './format';
import { icon, type IconName } from './icons';
import { t } from './l10n';
import { miniDiff, pathLabel, type Piece, plusMinus } from './parts';

/** A click or key that comes sooner was meant for what was here before. */
export const DEAF_MS = 400;

const DIFF_LINES = 40;

/** Whether the card has been there long enough to be answered. */
export function hears(born: number | undefined, now: number): boolean {
  return born !== undefined && now - born >= DEAF_MS;
}

const ICONS: Record<PermissionDetail['kind'], IconName> = { command: 'term', edit: 'edit', other: 'warn' };

/** What each row answers; a no has a place of its own below. */
export function rowsOf(options: PermissionOption[]): { rows: PermissionOption[]; deny?: PermissionOption } {
  const deny = options.find((option) => option.kind === 'reject_once');
  const rows = options.filter((option) => option !== deny);
  return deny ? { rows, deny } : { rows };
}

/** The question in few words, for the card, for what waits and for being read out. */
export function questionOf(detail: PermissionDetail): string {
  if (detail.kind === 'command') return t('Run this command?');
  if (detail.kind === 'edit') {
    const all = detail.diffs ?? [];
    if (all.length > 1) return t('Edit these files?');
    return all[0]?.creates ? t('Create this file?') : t('Edit this file?');
  }
  return detail.title || t('Allow this?');
}

export function shortQuestion(detail: PermissionDetail): string {
  if (detail.kind === 'command') return t('run a command');
  return detail.kind === 'edit' ? t('edit a file') : detail.tool || t('a question');
}

function send(
  app: App,
  ask: AskItem,
  optionId: string,
  more: { feedback?: string; rules?: string[] } = {},
): void {
  if (!hears(app.ui.born.get(ask.id), performance.now())) return;
  const command = app.ui.commands.get(ask.id)?.trim();
  const inside = document.getElementById(cardId(ask))?.contains(document.activeElement) ?? false;
  app.post({
    type: 'answer',
    id: ask.id,
    optionId,
    ...(more.feedback ? { feedback: more.feedback } : {}),
    ...(more.rules ? { rules: more.rules } : {}),
    ...(command ? { command } : {}),
  });
  app.ui.commands.delete(ask.id);
  app.ui.rules.delete(ask.id);
  if (inside) app.focusPrompt();
}

function deny(app: App, ask: AskItem, optionId: string, from: Element): void {
  const field = from.closest('.denyrow')?.querySelector('input');
  send(app, ask, optionId, { feedback: field?.value.trim() ?? '' });
}

export function cardId(ask: AskItem): string {
  return `ask-${ask.id}`;
}

/** The command whole, with the part that is asked about marked in it. */
export function marked(command: string, cause: string | undefined): Piece | TemplateResult {
  const at = cause ? command.indexOf(cause) : -1;
  if (cause === undefined || at < 0) return html`${visible(command)}`;
  const end = at + cause.length;
  return html`${visible(command.slice(0, at))}<mark>${visible(cause)}</mark>${visible(command.slice(end))}`;
}

function commandBody(app: App, ask: AskItem): TemplateResult {
  const command = ask.detail.command ?? '';
  const edited = app.ui.commands.get(ask.id);
  if (edited === undefined) {
    return html`<div class="cmd mono" data-command>
      <span class="ps">$ </span><span class="whole">${marked(command, ask.detail.cause)}</span>
    </div>`;
  }
  const change = (event: Event) => {
    app.ui.commands.set(ask.id, (event.target as HTMLTextAreaElement).value);
  };
  return html`<div class="cmdedit">
    <textarea
      class="field mono"
      rows="3"
      spellcheck="false"
      aria-label=${t('Command')}
      data-command-edit
      .value=${edited}
      @input=${change}
    ></textarea>
  </div>`;
}

function bodyOf(app: App, ask: AskItem): Piece {
  const { detail } = ask;
  if (detail.kind === 'command') return html`<div class="body">${commandBody(app, ask)}</div>`;
  const all = detail.diffs ?? [];
  if (!all.length) return nothing;
  const several = all.length > 1;
  return html`<div class="body">
    ${all.map(
      (diff) =>
        html`${several ? html`<div class="filehead">${pathLabel(app, diff.path)}${plusMinus(diff.added, diff.removed)}</div>` : nothing}${miniDiff(
          app,
          `${ask.id}:${diff.path}`,
          diff,
          DIFF_LINES,
        )}`,
    )}
  </div>`;
}

function effects(app: App, list: string[]): TemplateResult {
  const row = (effect: string) => {
    const [name, what] = fact(effect);
    return html`<dt>${name}</dt>
      <dd>${within(app.state.shell.cwd, what)}</dd>`;
  };
  return html`<dl>${list.map(row)}</dl>`;
}

function reason(app: App, detail: PermissionDetail): Piece {
  const list = detail.effects ?? [];
  if (!detail.why && !list.length) return nothing;
  return html`<div class="why" data-why>
    ${detail.dangerous ? icon('warn') : icon('info', 'muted')}
    <div><span>${detail.why || t('It would')}</span>${list.length ? effects(app, list) : nothing}</div>
  </div>`;
}

function optionRow(app: App, ask: AskItem, option: PermissionOption, index: number): TemplateResult {
  const primary = index === 0 && option.kind === 'allow_once' && ask.detail.dangerous !== true;
  const lasting = isLasting(ask, option);
  const open = app.ui.rules.get(ask.id)?.optionId === option.optionId;
  const rules = option.optionId === 'allow_session' ? (ask.detail.rules ?? []) : [];
  const choose = () => (lasting ? openRule(app, ask, option) : send(app, ask, option.optionId));
  return html`<button
      type="button"
      class=${primary ? 'opt pri' : 'opt'}
      aria-expanded=${lasting ? open : nothing}
      data-option=${option.optionId}
      @click=${choose}
    >
      <kbd aria-hidden="true">${index + 1}</kbd><span>${option.name}${lasting ? '…' : nothing}</span>${
        rules.length
          ? html` <span class="hint">${rules.map((rule) => html`<code>${rule}</code> `)}</span>`
          : nothing
      }</button
    >${ruleBox(app, ask, option, (kept) => send(app, ask, option.optionId, { rules: kept }))}`;
}

function editRow(app: App, ask: AskItem, index: number): Piece {
  const { command } = ask.detail;
  if (command === undefined || app.ui.commands.has(ask.id)) return nothing;
  const edit = () => {
    app.ui.commands.set(ask.id, command);
    app.ui.version += 1;
    app.redraw();
    requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-command-edit]')?.focus());
  };
  return html`<button type="button" class="opt" data-option="edit" @click=${edit}>
    <kbd aria-hidden="true">${index + 1}</kbd><span>${t('Edit the command first')}</span>
  </button>`;
}

function denyRow(app: App, ask: AskItem, option: PermissionOption): TemplateResult {
  const key = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    deny(app, ask, option.optionId, event.currentTarget as Element);
  };
  return html`<div class="denyrow">
    <input
      class="field"
      aria-label=${t('Words for the agent')}
      placeholder=${t('Why not, or what instead')}
      data-deny-words
      @keydown=${key}
    /><button
      class="btn"
      type="button"
      data-option=${option.optionId}
      @click=${(event: Event) => deny(app, ask, option.optionId, event.currentTarget as Element)}
    >
      ${option.name}
    </button>
  </div>`;
}

function title(app: App, { ask, place, total }: Question): TemplateResult {
  const { detail } = ask;
  const [only] = detail.diffs?.length === 1 ? (detail.diffs ?? []) : [];
  const words = detail.description ?? '';
  return html`<div class="ttl" id="${cardId(ask)}-title">
      ${icon(ICONS[detail.kind])}<span>${questionOf(detail)}</span
      ><span class="meta"
        >${
          total > 1 ? t('{0} of {1}', place, total) : only ? plusMinus(only.added, only.removed) : nothing
        }</span
      >
    </div>
    ${only ? html`<div class="desc">${pathLabel(app, only.path)}</div>` : nothing}${
      words ? html`<div class="desc" .textContent=${words}></div>` : nothing
    }`;
}

export function askCard(app: App, question: Question): TemplateResult {
  const { ask } = question;
  const { born } = app.ui;
  if (!born.has(ask.id)) born.set(ask.id, performance.now());
  const { rows, deny: no } = rowsOf(ask.options);
  return html`<section
    class="ask"
    role="group"
    id=${cardId(ask)}
    aria-labelledby="${cardId(ask)}-title"
    tabindex="-1"
    data-ask=${ask.id}
    data-kind=${ask.detail.kind}
    data-dangerous=${ask.detail.dangerous === true}
  >
    ${title(app, question)}${bodyOf(app, ask)}${reason(app, ask.detail)}
    <div class="opts" role="group" aria-label=${t('Answers')}>
      ${rows.map((option, index) => optionRow(app, ask, option, index))}${editRow(app, ask, rows.length)}
    </div>
    ${no ? denyRow(app, ask, no) : nothing}
  </section>`;
}

/** What the card shrinks to. */
export function answeredRow(ask: AskItem): TemplateResult {
  return html`<div class="answered" data-answered=${ask.denied ? 'denied' : 'allowed'}>
    ${icon(ask.denied ? 'deny' : 'check')}<span class="ell">${ask.answer ?? ''}</span>
  </div>`;
}
