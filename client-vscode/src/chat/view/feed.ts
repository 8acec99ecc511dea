/** The transcript: one article for each prompt, answer and notice; only what changed is made anew. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { repeat } from 'lit-html/directives/repeat.js';

import { answerArticle } from './answer';
import type { App } from './app';
import { type Article, articles } from './articles';
import { icon } from './icons';
import { t } from './l10n';
import { isNewest, noticeArticle, noticeClass } from './notices';
import { emptyPage } from './pages';
import { defaultOpen, isPending } from './toolCard';
import { userArticle } from './user';
import type { FeedWindow, Page } from './window';

function inside(app: App, article: Article): TemplateResult {
  switch (article.kind) {
    case 'user':
      return userArticle(app, article.user);
    case 'notice':
      return noticeArticle(app, article.notice);
    case 'answer':
      return answerArticle(app, article);
  }
}

/** What an article is made from; while nothing of it changes, the article stays as it is. */
function sources(app: App, article: Article): unknown[] {
  const { ui, state } = app;
  const all: unknown[] = [...article.items, ui.version, state.shell.cwd];
  if (article.kind === 'notice') all.push(isNewest(app, article.notice));
  if (article.kind !== 'answer') return all;
  for (const part of article.parts) {
    if (part.kind === 'call') all.push(part.denial, defaultOpen(app, part.tool), isPending(app, part.tool));
    if (part.kind === 'question') all.push(part.total);
  }
  all.push(article.parts.length);
  return all;
}

function labelOf(article: Article): string {
  if (article.kind === 'user') return t('You');
  return article.kind === 'answer' ? 'Sidelight' : t('Notice');
}

function classOf(article: Article): string {
  if (article.kind === 'user') return 'user';
  return article.kind === 'answer' ? 'assistant' : `notice ${noticeClass(article.notice)}`.trim();
}

function articleOf(app: App, article: Article, index: number, total: number): TemplateResult {
  const busy = article.kind === 'answer' && article.busy;
  return html`<article
    class=${classOf(article)}
    tabindex="-1"
    aria-label=${labelOf(article)}
    aria-posinset=${index + 1}
    aria-setsize=${total}
    aria-busy=${busy}
    data-article=${article.kind}
    data-id=${article.id}
  >
    ${guard(sources(app, article), () => inside(app, article))}
  </article>`;
}

function pageOf(app: App, page: Page, drawn: boolean, total: number): TemplateResult {
  const inside = repeat(
    page.articles,
    (article) => article.id,
    (article, index) => articleOf(app, article, page.before + index, total),
  );
  return html`<div class="page" role="none" data-page=${page.id} data-drawn=${drawn}>
    ${drawn ? inside : nothing}
  </div>`;
}

export function feed(app: App, view: FeedWindow, toLatest: () => void): TemplateResult {
  const all = articles(app.state.items);
  const jump = html`<button class="jump" type="button" data-act="latest" @click=${toLatest}>
    ${icon('scrolldown')}${t('Latest')}
  </button>`;
  const list = html`<div role="feed" aria-label=${t('Messages')} class="feed">
    ${repeat(
      view.plan(all),
      ({ page }) => page.id,
      ({ page, drawn }) => pageOf(app, page, drawn, all.length),
    )}
  </div>`;
  return html`<div class="log-wrap">
    <main class="log" tabindex="0" aria-label=${t('Conversation')} data-log>
      ${all.length ? list : emptyPage(app)}
    </main>
    ${all.length && !app.ui.atEnd ? jump : nothing}
  </div>`;
}
