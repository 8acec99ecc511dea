/** A rule before it is kept: shown whole, changed if the person likes, and where it goes. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { PermissionOption } from '../../protocol';
import type { AskItem } from '../../state';
import type { App } from './app';
import { t } from './l10n';
import type { Piece } from './parts';

/** Answers whose rules outlive the window; they are saved only after they were looked at. */
const LASTING = ['allow_project', 'allow_always'];

export function isLasting(ask: AskItem, option: PermissionOption): boolean {
  return LASTING.includes(option.optionId) && (ask.detail.rules ?? []).length > 0;
}

export function openRule(app: App, ask: AskItem, option: PermissionOption): void {
  const open = app.ui.rules.get(ask.id)?.optionId === option.optionId;
  if (open) app.ui.rules.delete(ask.id);
  else app.ui.rules.set(ask.id, { optionId: option.optionId, rules: ask.detail.rules ?? [] });
  app.ui.version += 1;
  app.redraw();
  if (open) return;
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('[data-rule], [data-act="saveRule"]')?.focus(),
  );
}

const PLACES: Record<string, () => string> = {
  allow_project: () => t('Kept in {0}, for you in this project', '.claude/settings.local.json'),
  allow_always: () => t('Kept in {0}, for you in every project', '~/.claude/settings.json'),
};

function problemOf(app: App, ask: AskItem, rule: string): string {
  return app.ui.ruleProblems.get(`${ask.id} ${rule}`) ?? '';
}

function field(app: App, ask: AskItem, rule: string, index: number): TemplateResult {
  const problem = problemOf(app, ask, rule);
  const id = `rule-${ask.id}-${index}`;
  const change = (event: Event) => {
    const draft = app.ui.rules.get(ask.id);
    if (!draft) return;
    const text = (event.target as HTMLTextAreaElement).value.replaceAll('\n', ' ');
    const rules = draft.rules.map((one, other) => (other === index ? text : one));
    app.ui.rules.set(ask.id, { ...draft, rules });
    if (text.trim()) app.post({ type: 'checkRule', id: ask.id, rule: text });
    app.ui.version += 1;
    app.redraw();
  };
  const said = html`<p class="small danger" id="${id}-problem" role="status">${problem}</p>`;
  // A rule is never cut off: the field grows with it. Enter saves, as it would in a line.
  const key = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    (event.target as Element).closest('.rule')?.querySelector<HTMLElement>('[data-act="saveRule"]')?.click();
  };
  return html`<textarea
      class="field mono"
      rows="1"
      aria-label=${t('Rule to keep')}
      aria-invalid=${problem !== ''}
      aria-describedby=${problem ? `${id}-problem` : nothing}
      spellcheck="false"
      data-rule
      .value=${rule}
      @input=${change}
      @keydown=${key}
    ></textarea
    >${problem ? said : nothing}`;
}

export function ruleBox(
  app: App,
  ask: AskItem,
  option: PermissionOption,
  save: (rules: string[]) => void,
): Piece {
  const draft = app.ui.rules.get(ask.id);
  if (draft?.optionId !== option.optionId) return nothing;
  const left = draft.rules.map((rule) => rule.trim()).filter(Boolean);
  const wrong = left.length === 0 || left.some((rule) => problemOf(app, ask, rule) !== '');
  const rules = ask.detail.rulesEditable
    ? draft.rules.map((rule, index) => field(app, ask, rule, index))
    : draft.rules.map((rule) => html`<code class="whole">${rule}</code>`);
  return html`<div class="rule" id="rule-${ask.id}">
    ${rules}
    <p class="small muted">${PLACES[option.optionId]?.() ?? nothing}</p>
    <div class="btns">
      <button
        class="btn"
        type="button"
        aria-disabled=${wrong}
        data-act="saveRule"
        @click=${() => (wrong ? undefined : save(left))}
      >
        ${t('Save and allow')}</button
      ><button class="qb plain" type="button" data-act="ruleBack" @click=${() => openRule(app, ask, option)}>
        ${t('Back')}
      </button>
    </div>
  </div>`;
}
