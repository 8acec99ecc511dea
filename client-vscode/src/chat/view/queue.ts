/** Prompts that wait: shown in order, changed, taken out, or sent at once. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { QueuedPrompt } from '../../protocol';
import type { App } from './app';
import { t } from './l10n';
import { iconButton } from './parts';

/** Opens the field of a prompt that waits. */
export function editQueued(app: App, { id, text }: QueuedPrompt): void {
  app.ui.queued = { id, text };
  app.redraw();
  requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-queued-edit]')?.focus());
}

/** A prompt that waits, while it is being changed. */
function queuedField(app: App, draft: { id: string; text: string }): TemplateResult {
  const leave = () => {
    app.ui.queued = null;
    app.redraw();
    app.focusPrompt();
  };
  const save = () => {
    const text = draft.text.trim();
    app.post(text ? { type: 'queued', id: draft.id, text } : { type: 'queued', id: draft.id });
    leave();
  };
  const key = (event: KeyboardEvent) => {
    if (event.isComposing || event.shiftKey || !['Enter', 'Escape'].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Enter') save();
    else leave();
  };
  return html`<li class="editing">
    <textarea
      class="field"
      rows="2"
      aria-label=${t('Queued prompt')}
      data-queued-edit
      .value=${draft.text}
      @keydown=${key}
      @input=${(event: Event) => {
        draft.text = (event.target as HTMLTextAreaElement).value;
      }}
    ></textarea
    >${iconButton('check', t('Save'), 'queueSave', save)}${iconButton('x', t('Cancel'), 'queueCancel', leave)}
  </li>`;
}

export function queuedLine(app: App, { id, text }: QueuedPrompt, index: number): TemplateResult {
  if (app.ui.queued?.id === id) return queuedField(app, app.ui.queued);
  const remove = () => {
    app.post({ type: 'queued', id });
    app.focusPrompt();
  };
  // What waits longest comes next, so only that can be sent now: by stopping what is before it.
  const now = index
    ? nothing
    : iconButton('send', t('Stop and send this now'), 'queueNow', () => app.post({ type: 'stop' }));
  return html`<li data-queued-prompt=${id}>
    <span class="pos num" aria-hidden="true">${index + 1}</span
    ><span class="grow ell" title=${text}>${text}</span>${iconButton(
      'edit',
      t('Edit the queued prompt'),
      'queueEdit',
      () => editQueued(app, { id, text }),
    )}${iconButton('x', t('Remove from the queue'), 'queueRemove', remove)}${now}
  </li>`;
}
