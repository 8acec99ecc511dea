/** What is shown when there is no conversation to show: beginnings, and the list of earlier conversations. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { SessionInfo } from '../../protocol';
import type { App } from './app';
import { icon, type IconName } from './icons';
import { count, t } from './l10n';
import { actionButtons } from './notices';
import { chipLabel, iconButton, type Piece } from './parts';

function page(content: TemplateResult): TemplateResult {
  return html`<div class="empty">${content}</div>`;
}

function suggestion(app: App, name: IconName, words: string): TemplateResult {
  const fill = () => app.fill(words);
  return html`<button class="sug" type="button" data-act="suggest" @click=${fill}>
    ${icon(name)}<span class="ell">${words}</span>
  </button>`;
}

/** What could be asked here, from what is known: the selection, what waits for review, the folder. */
function suggestions(app: App): TemplateResult {
  const { chips, changes } = app.state.shell;
  const selection = chips.find((chip) => chip.kind === 'selection' && chip.on !== false);
  const all: TemplateResult[] = [];
  if (selection) {
    all.push(suggestion(app, 'info', t('Explain {0}', chipLabel(selection))));
    all.push(suggestion(app, 'check', t('Write tests for {0}', selection.name)));
  }
  if (changes.length) {
    const words = count(changes.length, 'Review the change in {0} file', 'Review the changes in {0} files');
    all.push(suggestion(app, 'diff', words));
  }
  all.push(suggestion(app, 'search', t('Explain how this project is built')));
  all.push(suggestion(app, 'term', t('Run the tests and fix what fails')));
  return html`<div>
    <h2 class="sec-h">${t('In this folder')}</h2>
    <div class="outdent">${all.slice(0, 4)}</div>
  </div>`;
}

function recent(app: App): Piece {
  const { sessions } = app.state.shell.history;
  const others = sessions.filter((session) => session.sessionId !== app.state.shell.sessionId).slice(0, 2);
  if (!others.length) return nothing;
  const row = (session: SessionInfo) =>
    html`<button
      class="sug"
      type="button"
      @click=${() => app.post({ type: 'load', sessionId: session.sessionId })}
    >
      ${icon('history')}<span class="ell grow">${session.title ?? t('Without a title')}</span
      ><span class="muted small">${when(session.updatedAt)}</span>
    </button>`;
  return html`<div>
    <h2 class="sec-h">${t('Recent')}</h2>
    <div class="outdent">${others.map(row)}</div>
  </div>`;
}

function keys(app: App): TemplateResult {
  const send = app.state.shell.sendWithCtrlEnter ? 'Ctrl+Enter' : 'Enter';
  return html`<div class="keys">
    <kbd>${send}</kbd><span>${t('Send')}</span><kbd>Alt+K</kbd><span>${t('Mention the selection here')}</span
    ><kbd>Alt+M</kbd><span>${t('Next mode')}</span><kbd>Ctrl+Esc</kbd
    ><span>${t('Come here from the editor')}</span>
  </div>`;
}

function way(
  app: App,
  name: IconName,
  label: string,
  hint: string,
  command:
    'sidelight.setKey' | 'sidelight.chooseGateway' | 'sidelight.lookAgain' | 'sidelight.installSmallModel',
): TemplateResult {
  return html`<button
    class="way"
    type="button"
    data-command=${command}
    @click=${() => app.post({ type: 'command', command })}
  >
    ${icon(name)}<span>${label}</span>${icon('right', 'chev')}<span class="hint">${hint}</span>
  </button>`;
}

function noModelTitle(app: App): string {
  const { connection } = app.state.shell;
  return connection?.small?.ready === true
    ? t('The small local model cannot work as an agent')
    : t('No model found yet');
}

/** The small model as one more way, as long as it is not there. */
function smallOffer(app: App): Piece {
  const small = app.state.shell.connection?.small;
  if (!small || small.ready) return nothing;
  const about = t(
    '{0} MB, {1}: explains, documents, renames, writes commit messages.',
    small.megabytes,
    small.licence,
  );
  return way(app, 'chip', t('Get a small model'), about, 'sidelight.installSmallModel');
}

/** No model: what was tried, and the ways to one. */
function noModel(app: App): TemplateResult {
  const { connection } = app.state.shell;
  const tried = connection?.tried ?? [];
  const open = app.isOpen('tried', false);
  const list = html`<ul class="tried small muted" ?hidden=${!open}>
    ${tried.map((one) => html`<li>${one}</li>`)}
  </ul>`;
  const again = () => app.post({ type: 'command', command: 'sidelight.lookAgain' });
  const toggle = html`<button
    class="qb"
    type="button"
    aria-expanded=${open}
    @click=${() => app.toggle('tried', !open)}
  >
    ${t('What was tried')}
  </button>`;
  return page(
    html`<div>
        ${icon('lamp', 'big')}
        <h2 class="eh">${noModelTitle(app)}</h2>
        <p class="lead">${connection?.problem ?? ''}</p>
      </div>
      <div class="ways">
        ${way(app, 'key', t('Enter an API key'), t('It is kept in the editor’s secret storage.'), 'sidelight.setKey')}
        ${way(app, 'cloud', t('Use a gateway'), t('Set its address as ANTHROPIC_BASE_URL in the settings, then look again.'), 'sidelight.chooseGateway')}
        ${way(app, 'chip', t('Run a model on this machine'), t('Start any server that speaks the Messages API, then look again.'), 'sidelight.lookAgain')}
        ${smallOffer(app)}
      </div>
      <div class="btns">
        <button class="btn" type="button" data-command="sidelight.lookAgain" @click=${again}>
          ${icon('retry')}${t('Look again')}</button
        >${tried.length ? toggle : nothing}
      </div>
      ${tried.length ? list : nothing}`,
  );
}

function noFolder(app: App): TemplateResult {
  const actions = [{ label: t('Open a folder'), command: 'workbench.action.files.openFolder' as const }];
  return page(
    html`<div>
        <h2 class="eh">${t('Open a folder first')}</h2>
        <p class="lead">${t('The agent reads and changes files of one folder.')}</p>
      </div>
      ${actionButtons(app, actions)}`,
  );
}

function stopped(app: App): TemplateResult {
  const { server } = app.state.shell;
  return page(
    html`<div>
        ${icon('error', 'big danger')}
        <h2 class="eh">${t('The server is not running')}</h2>
        <p class="lead words" .textContent=${server.problem ?? ''}></p>
      </div>
      ${actionButtons(app, server.actions)}`,
  );
}

export function emptyPage(app: App): TemplateResult {
  const { server, folder, connection } = app.state.shell;
  if (server.state === 'stopped') return stopped(app);
  if (folder === null) return noFolder(app);
  if (server.state === 'starting' || connection === null) {
    return page(
      html`<div class="row"><span>${icon('spin')}</span><span class="muted">${t('Starting')}</span></div>`,
    );
  }
  if (!connection.ready) return noModel(app);
  return page(
    html`<h2 class="eh">${t('What should change in {0}?', folder)}</h2>
      ${suggestions(app)}${recent(app)}${keys(app)}`,
  );
}

// --- history ---

const DAY = 86_400_000;

/** Which group a time falls into, by calendar days. */
export function groupOf(updatedAt: string | undefined, now: number): keyof typeof GROUPS {
  const then = updatedAt === undefined ? Number.NaN : Date.parse(updatedAt);
  if (Number.isNaN(then)) return 'Earlier';
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (then >= midnight) return 'Today';
  if (then >= midnight - DAY) return 'Yesterday';
  return then >= midnight - 6 * DAY ? 'Week' : 'Earlier';
}

/** A time in few words, in the display language: an hour in the last two days, a day before that. */
export function age(updatedAt: string | undefined, now: number): string {
  const then = updatedAt === undefined ? Number.NaN : Date.parse(updatedAt);
  if (Number.isNaN(then)) return '';
  const group = groupOf(updatedAt, now);
  const hour = group === 'Today' || group === 'Yesterday';
  const options: Intl.DateTimeFormatOptions = hour
    ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
    : { day: 'numeric', month: 'short' };
  return new Intl.DateTimeFormat(document.documentElement.lang || 'en', options).format(then);
}

/** The same where no heading says the day. */
function when(updatedAt: string | undefined): string {
  const now = Date.now();
  return groupOf(updatedAt, now) === 'Yesterday' ? t('Yesterday') : age(updatedAt, now);
}

/** The title with what was searched for marked in it. */
function marked(title: string, search: string): TemplateResult {
  const at = search ? title.toLowerCase().indexOf(search.toLowerCase()) : -1;
  if (at < 0) return html`${title}`;
  const end = at + search.length;
  return html`${title.slice(0, at)}<mark>${title.slice(at, end)}</mark>${title.slice(end)}`;
}

function historyRow(app: App, session: SessionInfo): TemplateResult {
  const current = session.sessionId === app.state.shell.sessionId;
  const load = () => app.post({ type: 'load', sessionId: session.sessionId });
  return html`<li class=${current ? 'hirow cur' : 'hirow'}>
    <button class="hi" type="button" data-session=${session.sessionId} aria-current=${current} @click=${load}>
      ${icon(current ? 'now' : 'comment', current ? 'accent' : '')}<span class="ell"
        >${marked(session.title ?? t('Without a title'), app.ui.search)}</span
      ><span class="meta num">${age(session.updatedAt, Date.now())}</span>
    </button>
  </li>`;
}

const GROUPS = {
  Today: () => t('Today'),
  Yesterday: () => t('Yesterday'),
  Week: () => t('Last 7 days'),
  Earlier: () => t('Earlier'),
};

function groups(app: App, sessions: SessionInfo[]): TemplateResult[] {
  const now = Date.now();
  return Object.entries(GROUPS).flatMap(([name, words]) => {
    const members = sessions.filter((session) => groupOf(session.updatedAt, now) === name);
    if (!members.length) return [];
    return html`<h2 class="grp">${words()}</h2>
      <ul>
        ${members.map((session) => historyRow(app, session))}
      </ul>`;
  });
}

export function historyPage(app: App): TemplateResult {
  const { sessions, loading } = app.state.shell.history;
  const search = app.ui.search.toLowerCase();
  const found = sessions.filter((session) => (session.title ?? '').toLowerCase().includes(search));
  const input = (event: Event) => {
    app.ui.search = (event.target as HTMLInputElement).value;
    app.redraw();
  };
  const none = loading ? t('Loading') : search ? t('Nothing found') : t('No conversations yet');
  return html`<main class="hist" data-history>
    <div class="find">
      <div class="wrap">
        ${icon('search')}<input
          class="field"
          type="search"
          aria-label=${t('Search conversations')}
          placeholder=${t('Search conversations')}
          .value=${app.ui.search}
          @input=${input}
        />
      </div>
    </div>
    <div class="list" tabindex="-1">
      ${found.length ? groups(app, found) : html`<p class="muted none">${none}</p>`}
    </div>
  </main>`;
}

export function header(app: App): TemplateResult {
  const { history, title, others } = app.state.shell;
  if (history.open) {
    const back = () => app.post({ type: 'history', open: false });
    return html`<header class="conv">
      <h1 class="title th">${t('History')}</h1>
      <span class="spacer"></span>${iconButton('x', t('Back to the conversation'), 'closeHistory', back)}
    </header>`;
  }
  const open = () => app.post({ type: 'history', open: true });
  const hint = count(others, '{0} other conversation waits for you', '{0} other conversations wait for you');
  return html`<header class="conv">
    <h1 class="th">
      <button class="title" type="button" title=${t('Switch conversation')} data-act="history" @click=${open}>
        <span class="ell" data-title>${title || t('New conversation')}</span>${icon('down', 'chev2')}
      </button>
    </h1>
    ${others ? html`<span class="badge" role="img" aria-label=${hint} title=${hint}>${others}</span>` : nothing}
  </header>`;
}
