/** Scrolling: follows only while the end is in view, and never fights the person who scrolls away. */

import { type App, having, type Spot } from './app';

/** Within this distance the end counts as in view. */
export const NEAR = 8;

export function atEnd(log: { scrollHeight: number; scrollTop: number; clientHeight: number }): boolean {
  return log.scrollHeight - log.scrollTop - log.clientHeight <= NEAR;
}

export class Scroller {
  #log: HTMLElement | undefined;
  #follow = true;
  #session: string | null | undefined;
  /** The question that was brought into view, once. */
  #shownQuestion: string | null = null;
  #watcher: IntersectionObserver | undefined;
  #watched: Element | null = null;

  constructor(private readonly app: App) {}

  /** After each drawing; `hold` leaves the view where it is, as after a click that opened something. */
  update(log: HTMLElement | null, hold: boolean): void {
    if (!log) return;
    if (hold) this.#follow = false;
    if (log !== this.#log) this.#attach(log);
    const { sessionId } = this.app.state.shell;
    if (sessionId !== this.#session) this.#change(log, sessionId);
    else if (this.#follow) this.#toEnd(log);
    this.#question(log);
    if (hold) this.#follow = atEnd(log);
    this.#note(log);
  }

  latest = (): void => {
    this.#follow = true;
    if (this.#log) this.#toEnd(this.#log);
    this.app.redraw();
  };

  #attach(log: HTMLElement): void {
    this.#log = log;
    this.#session = undefined;
    log.addEventListener('scroll', () => this.#scrolled(log), { passive: true });
    // The log's own size changes with the dock; whoever was at the end stays there.
    new ResizeObserver(() => {
      if (this.#follow) this.#toEnd(log);
    }).observe(log);
    this.#watcher?.disconnect();
    this.#watched = null;
    const seen = (entries: IntersectionObserverEntry[]) => {
      const away = entries.at(-1)?.isIntersecting === false;
      this.#away(away && this.#watched !== null);
    };
    this.#watcher = new IntersectionObserver(seen, { root: log });
  }

  #change(log: HTMLElement, sessionId: string | null): void {
    this.#session = sessionId;
    const kept = this.app.ui.kept.scroll[sessionId ?? ''];
    this.#follow = kept === undefined || !this.#restore(log, kept);
    if (this.#follow) this.#toEnd(log);
  }

  /** Goes to where the person was; false when that article is no longer there. */
  #restore(log: HTMLElement, { id, offset }: Spot): boolean {
    const article = this.app.find(id);
    if (!article) return false;
    log.scrollTop += article.getBoundingClientRect().top - log.getBoundingClientRect().top - offset;
    return true;
  }

  /** The first article in view. */
  #spot(log: HTMLElement): Spot | undefined {
    const { top } = log.getBoundingClientRect();
    for (const article of log.querySelectorAll<HTMLElement>('article')) {
      const box = article.getBoundingClientRect();
      const id = article.dataset['id'];
      if (box.bottom > top && id !== undefined) return { id, offset: Math.round(box.top - top) };
    }
    return undefined;
  }

  #toEnd(log: HTMLElement): void {
    // An empty page is read from its top when it does not fit.
    log.scrollTop = this.app.state.items.length ? log.scrollHeight : 0;
  }

  /** A card that is higher than the view is shown from its top; only when it is new and was being followed. */
  #question(log: HTMLElement): void {
    const card = log.querySelector<HTMLElement>('[data-ask]');
    const id = card?.dataset['ask'] ?? null;
    if (card && id !== this.#shownQuestion && this.#follow && card.offsetHeight + 24 > log.clientHeight) {
      log.scrollTop += card.getBoundingClientRect().top - log.getBoundingClientRect().top - 8;
      this.#follow = atEnd(log);
    }
    this.#shownQuestion = id;
    if (card === this.#watched) return;
    if (this.#watched) this.#watcher?.unobserve(this.#watched);
    this.#watched = card;
    if (card) this.#watcher?.observe(card);
    else this.#away(false);
  }

  #scrolled(log: HTMLElement): void {
    this.#follow = atEnd(log);
    const spot = this.#follow ? undefined : this.#spot(log);
    this.app.ui.kept.scroll = having(this.app.ui.kept.scroll, this.#session ?? '', spot);
    this.app.keep();
    this.#note(log);
  }

  #note(log: HTMLElement): void {
    const end = atEnd(log);
    if (end === this.app.ui.atEnd) return;
    this.app.ui.atEnd = end;
    this.app.redraw();
  }

  #away(away: boolean): void {
    if (away === this.app.ui.questionAway) return;
    this.app.ui.questionAway = away;
    this.app.redraw();
  }
}
