/** The part of a long transcript that is drawn: pages near the view, and those that must not go. Others keep their height. */

import type { Article } from './articles';

/** A page is as much of a transcript as comes and goes at once. */
export interface Page {
  id: string;
  articles: Article[];
  /** How many articles come before it. */
  before: number;
  /** Whether something in it runs or waits for an answer. */
  live: boolean;
  /** Height in pixels, as long as it was never drawn. */
  estimate: number;
}

const PAGE_WEIGHT = 40;
const LETTERS_A_PART = 1500;
const LINE = 20;
const ROW = 32;
const LETTERS_A_LINE = 45;

function lengthOf(article: Article): number {
  return article.items.reduce((sum, item) => sum + ('text' in item ? item.text.length : 0), 0);
}

function weightOf(article: Article, letters: number): number {
  const parts = article.kind === 'answer' ? article.parts.length : 1;
  return parts + letters / LETTERS_A_PART;
}

function estimateOf(article: Article, letters: number): number {
  const rows = article.kind === 'answer' ? article.parts.length * ROW : ROW;
  return rows + Math.ceil(letters / LETTERS_A_LINE) * LINE;
}

function isLive(article: Article): boolean {
  if (article.kind !== 'answer') return article.kind === 'notice' && article.notice.kind === 'retry';
  return article.busy || article.parts.some((part) => part.kind === 'question');
}

/** A transcript in pages. What is added at its end changes the last one alone. */
export function pagesOf(articles: Article[]): Page[] {
  const pages: Page[] = [];
  let weight = PAGE_WEIGHT;
  articles.forEach((article, index) => {
    const letters = lengthOf(article);
    if (weight >= PAGE_WEIGHT) {
      pages.push({ id: article.id, articles: [], before: index, live: false, estimate: 0 });
      weight = 0;
    }
    weight += weightOf(article, letters);
    const page = pages.at(-1);
    if (!page) return;
    page.articles.push(article);
    page.live ||= isLive(article);
    page.estimate += estimateOf(article, letters);
  });
  return pages;
}

/** The newest pages are always drawn: that is where people are. */
const TAIL = 2;

/** Decides which pages are drawn and keeps the heights of the others. */
export class FeedWindow {
  readonly #near = new Set<string>();
  readonly #heights = new Map<string, number>();
  #watched = new Set<Element>();
  #watcher: IntersectionObserver | undefined;
  #log: HTMLElement | undefined;
  #width = 0;
  /** A page that is drawn because somebody goes there. */
  #wanted: string | undefined;
  #pages: Page[] = [];

  constructor(private readonly redraw: () => void) {}

  /** The pages with the answer whether each is drawn. */
  plan(articles: Article[]): { page: Page; drawn: boolean }[] {
    this.#pages = pagesOf(articles);
    const held = this.#held();
    const tail = this.#pages.length - TAIL;
    return this.#pages.map((page, index) => ({
      page,
      drawn:
        index >= tail ||
        page.live ||
        page.id === this.#wanted ||
        this.#near.has(page.id) ||
        held.has(page.id),
    }));
  }

  /** Asks for the page that holds an article, by id or by its place from 1 on; false when there is none. */
  want(article: string | number): boolean {
    const page = this.#pages.find(({ articles, before }) =>
      typeof article === 'string'
        ? articles.some((one) => one.id === article)
        : article > before && article <= before + articles.length,
    );
    if (page) this.#wanted = page.id;
    return page !== undefined;
  }

  /** After each drawing: gives pages that are not drawn their height and watches where all of them are. */
  settle(log: HTMLElement): void {
    if (log !== this.#log) this.#attach(log);
    const elements = new Set(log.querySelectorAll<HTMLElement>('[data-page]'));
    const estimates = new Map(this.#pages.map((page) => [page.id, page.estimate]));
    for (const element of elements) {
      const { page = '', drawn } = element.dataset;
      const height = this.#heights.get(page) ?? estimates.get(page) ?? 0;
      element.style.blockSize = drawn === 'true' ? '' : `${height}px`;
    }
    this.#watch(elements);
    for (const id of this.#heights.keys()) if (!estimates.has(id)) this.#heights.delete(id);
    for (const id of this.#near) if (!estimates.has(id)) this.#near.delete(id);
  }

  #watch(elements: Set<Element>): void {
    for (const element of elements) if (!this.#watched.has(element)) this.#watcher?.observe(element);
    for (const element of this.#watched) if (!elements.has(element)) this.#watcher?.unobserve(element);
    this.#watched = elements;
  }

  /** Pages that hold the focus or a selection stay, or both would be lost. */
  #held(): Set<string> {
    const selection = document.getSelection();
    const nodes = [document.activeElement, selection?.isCollapsed === false ? selection.anchorNode : null];
    const pages = nodes.map((node) => {
      const element = node instanceof Element ? node : node?.parentElement;
      return element?.closest<HTMLElement>('[data-page]')?.dataset['page'];
    });
    return new Set(pages.filter((id) => id !== undefined));
  }

  #attach(log: HTMLElement): void {
    this.#log = log;
    this.#watcher?.disconnect();
    this.#watched = new Set();
    this.#near.clear();
    this.#watcher = new IntersectionObserver((entries) => this.#seen(entries), {
      root: log,
      rootMargin: '100% 0px',
    });
    new ResizeObserver(() => {
      if (log.clientWidth !== this.#width) this.#heights.clear();
      this.#width = log.clientWidth;
    }).observe(log);
  }

  /** Called when a page comes near or goes; the height of one that goes is the one it had. */
  #seen(entries: IntersectionObserverEntry[]): void {
    let changed = false;
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      const { page = '', drawn } = (target as HTMLElement).dataset;
      if (drawn === 'true') this.#heights.set(page, boundingClientRect.height);
      if (isIntersecting && !this.#near.has(page)) {
        this.#near.add(page);
        changed = true;
      } else if (!isIntersecting && this.#near.delete(page)) {
        if (this.#wanted === page) this.#wanted = undefined;
        changed = true;
      }
    }
    if (changed) this.redraw();
  }
}
