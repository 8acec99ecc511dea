/** Every string that the product shows has a Chinese text with the same places in it. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;

const LITERAL = `'((?:[^'\\\\]|\\\\.)*)'`;
const PLAIN = new RegExp(`\\bt\\(\\s*${LITERAL}`, 'g');
const COUNT = new RegExp(`\\bcount\\(\\s*[^,()]+(?:\\([^()]*\\))?,\\s*${LITERAL},\\s*${LITERAL}`, 'g');

function keysOf(source: string): string[] {
  const found = [...source.matchAll(PLAIN), ...source.matchAll(COUNT)];
  return found.flatMap(([, ...keys]) => keys.filter(Boolean).map((key) => key.replace(/\\(.)/g, '$1')));
}

function sources(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'));
}

const places = (text: string) => [...new Set(text.match(/\{\d+\}/g))].sort();

test('the Chinese bundle has exactly the strings that are shown', () => {
  const shown = new Set(sources('src').flatMap(keysOf));
  const bundle = read('l10n/bundle.l10n.zh-cn.json');
  assert.deepEqual(Object.keys(bundle).sort(), [...shown].sort());
});

test('a Chinese text has the same places to fill as the English one', () => {
  for (const [english, chinese] of Object.entries(read('l10n/bundle.l10n.zh-cn.json'))) {
    assert.deepEqual(places(chinese), places(english), english);
    assert.match(chinese, /[\u4e00-\u9fff]|\{0\}/, english);
  }
});

test('the manifest has the same strings in both languages', () => {
  const english = read('package.nls.json');
  assert.deepEqual(Object.keys(read('package.nls.zh-cn.json')), Object.keys(english));
  const manifest = readFileSync('package.json', 'utf8');
  for (const [, key = ''] of manifest.matchAll(/"%([\w.]+)%"/g)) assert.ok(key in english, key);
});
