/** Notices: an icon, a sentence, at most a few buttons; a retry counts down. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { Action, NoticeItem, RetryItem } from '../../state';
import type { App } from './app';
import { icon } from './icons';
import { t } from './l10n';
import { quietButton } from './parts';

const LOOK = { info: ['info', ''], warning: ['warn', 'wrn'], error: ['error', 'err'] } as const;

/** The first action is a button, others are quieter. */
export function actionButtons(app: App, actions: Action[]): TemplateResult {
  return html`<div class="btns">
    ${actions.map(
      (action, index) =>
        html`<button
          class=${index === 0 ? 'btn' : 'qb'}
          type="button"
          data-command=${action.command}
          @click=${() => app.post({ type: 'command', command: action.command })}
        >
          ${action.label}
        </button>`,
    )}
  </div>`;
}

function notice(app: App, item: NoticeItem): TemplateResult {
  const detail = item.detail
    ? html`<div class="muted small words" .textContent=${item.detail}></div>`
    : nothing;
  return html`${icon(LOOK[item.severity][0])}
    <div class="words" .textContent=${item.text}></div>
    ${detail}${item.actions.length ? actionButtons(app, item.actions) : nothing}${
      item.severity === 'error' ? afterError(app, item) : nothing
    }`;
}

/** Whether nothing came after an error: then its turn can be tried again. */
export function isNewest(app: App, item: NoticeItem | RetryItem): boolean {
  return !app.state.shell.running && app.state.items.at(-1)?.id === item.id;
}

/** What can be done about an error: the prompt written once more, ready to be changed, or its words copied. */
function afterError(app: App, item: NoticeItem): TemplateResult {
  const last = app.state.items.findLast((one) => one.kind === 'user');
  const again = last && isNewest(app, item);
  const words = [item.text, item.detail].filter(Boolean).join('\n');
  return html`<div class="btns">
    ${again ? quietButton(t('Write the prompt again'), 'again', () => app.fill(last.text)) : nothing}${quietButton(
      t('Copy details'),
      'copyError',
      () => app.copy(words),
      true,
    )}
  </div>`;
}

/** The ticker writes the seconds and the bar; they are not read out. */
function retry(app: App, item: RetryItem): TemplateResult {
  const [before = '', after = ''] = t('Trying again in {0} s, attempt {1}', '\u0000', item.attempt).split(
    '\u0000',
  );
  return html`${icon('warn')}
    <div class="words" .textContent=${item.cause}></div>
    <div class="muted small">
      <span class="num">${before}<span data-until=${item.until}></span>${after}</span>
      <div class="bar" aria-hidden="true"><i data-bar=${item.until} data-of=${item.delayMs}></i></div>
    </div>
    <div class="btns">
      <button class="qb plain" type="button" data-act="stop" @click=${() => app.post({ type: 'stop' })}>
        ${t('Stop')}
      </button>
    </div>`;
}

export function noticeArticle(app: App, item: NoticeItem | RetryItem): TemplateResult {
  return item.kind === 'retry' ? retry(app, item) : notice(app, item);
}

export function noticeClass(item: NoticeItem | RetryItem): string {
  return item.kind === 'retry' ? 'wrn' : LOOK[item.severity][1];
}
