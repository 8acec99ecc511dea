/** Markdown into blocks that can be shown: no HTML of the text's own, nothing that is fetched, no address that acts. */

import MarkdownIt from 'markdown-it';

import { t } from './l10n';

export interface HtmlBlock {
  kind: 'html';
  html: string;
}

export interface CodeBlock {
  kind: 'code';
  language: string;
  /** A file's path when the fence names one. */
  file: string;
  code: string;
}

export type Block = HtmlBlock | CodeBlock;

type Token = ReturnType<InstanceType<typeof MarkdownIt>['parse']>[number];
type Env = Parameters<InstanceType<typeof MarkdownIt>['parse']>[1] & object;

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false });
const { escapeHtml } = markdown.utils;
const { rules } = markdown.renderer;

// A bare name such as `setup.py` is no address; only what says its scheme is one.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
// File addresses lead into the workspace; the extension refuses what lies outside.
const refused = /^\s*(?:javascript|vbscript|data|command|vscode[\w-]*):/i;
markdown.validateLink = (url) => !refused.test(url);

function attr(token: Token | undefined, name: string): string {
  return String(token?.attrGet(name) ?? '');
}

/** A link has no `href`: the click goes to the extension, which shows an address before it opens it. */
function linkStart(address: string): string {
  const safe = escapeHtml(address);
  return `<a class="link" role="link" tabindex="0" data-href="${safe}" title="${safe}">`;
}

rules.link_open = (tokens, index) => linkStart(attr(tokens[index], 'href'));
rules.image = (tokens, index) => {
  const token = tokens[index];
  const address = attr(token, 'src');
  const words = token?.content ? token.content : address;
  return `${linkStart(address)}${escapeHtml(words)}</a>`;
};
rules.heading_open = () => '<h3 class="mh">';
rules.heading_close = () => '</h3>\n';
rules.table_open = () =>
  '<div class="tablebox" tabindex="0" role="region" aria-label="' + escapeHtml(t('Table')) + '"><table>\n';
rules.table_close = () => '</table></div>\n';
for (const cell of ['th_open', 'td_open'] as const) {
  rules[cell] = (tokens, index) => {
    const style = attr(tokens[index], 'style');
    const side = /text-align:(\w+)/.exec(style)?.[1];
    return `<${cell.slice(0, 2)}${side === 'right' || side === 'center' ? ` class="${side}"` : ''}>`;
  };
}
// A fence inside a list or a quote is part of its block.
const inner = (code: string) =>
  `<pre class="plain" tabindex="0" role="region" aria-label="${escapeHtml(t('Code'))}"><code>${escapeHtml(code)}</code></pre>\n`;
rules.fence = (tokens, index) => inner(tokens[index]?.content ?? '');
rules.code_block = (tokens, index) => inner(tokens[index]?.content ?? '');

/** What a fence's first line says: a language, and a file when it names one, as `ts src/app.ts`. */
export function fenceInfo(info: string): { language: string; file: string } {
  const words = info.trim().split(/[\s:]+/);
  const isFile = (word: string) => /[\w-]\.\w+$|\//.test(word);
  const file = words.map((word) => word.replace(/^(?:title|file|path)=|["'{}]/g, '')).find(isFile) ?? '';
  const first = words[0] ?? '';
  const language = isFile(first) ? (/\.(\w+)$/.exec(first)?.[1] ?? '') : first;
  return { language: language.toLowerCase(), file };
}

interface Piece {
  block: Block;
  /** The source line where it starts. */
  line: number;
}

function blockOf(tokens: Token[], env: Env): Block {
  const [first] = tokens;
  if (tokens.length === 1 && (first?.type === 'fence' || first?.type === 'code_block')) {
    const info = fenceInfo(first.info);
    return { kind: 'code', ...info, code: first.content.replace(/\n$/, '') };
  }
  return { kind: 'html', html: markdown.renderer.render(tokens, markdown.options, env) };
}

function pieces(source: string): Piece[] {
  const env = {};
  const tokens = markdown.parse(source, env);
  const found: Piece[] = [];
  let depth = 0;
  let start = 0;
  tokens.forEach((token, index) => {
    depth += token.nesting;
    if (depth > 0) return;
    const own = tokens.slice(start, index + 1);
    found.push({ block: blockOf(own, env), line: tokens[start]?.map?.[0] ?? 0 });
    start = index + 1;
  });
  return found;
}

/** All blocks of a text that does not grow. */
export function blocks(source: string): Block[] {
  return pieces(source).map((piece) => piece.block);
}

/** The blocks of a text that grows at its end: only the last one is read again, the others stay the same objects. */
export class Growing {
  #source = '';
  /** Where the last block begins. */
  #tail = 0;
  #done: Block[] = [];
  #blocks: Block[] = [];

  update(source: string): Block[] {
    if (source === this.#source) return this.#blocks;
    if (!source.startsWith(this.#source)) {
      this.#tail = 0;
      this.#done = [];
    }
    this.#source = source;
    const rest = source.slice(this.#tail);
    const found = pieces(rest);
    const last = found.at(-1);
    this.#blocks = [...this.#done, ...found.map((piece) => piece.block)];
    if (last && found.length > 1) {
      this.#done = this.#blocks.slice(0, -1);
      this.#tail += offsetOf(rest, last.line);
    }
    return this.#blocks;
  }
}

function offsetOf(text: string, line: number): number {
  let at = 0;
  for (let passed = 0; passed < line; passed += 1) at = text.indexOf('\n', at) + 1;
  return at;
}
