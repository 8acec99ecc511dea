import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Block } from '../../src/chat/view/markdown';
import { blocks, fenceInfo, Growing } from '../../src/chat/view/markdown';

const html = (source: string) =>
  blocks(source)
    .map((block) => (block.kind === 'html' ? block.html : `<code ${block.language}>${block.code}`))
    .join('');

test('HTML in an answer is text', () => {
  assert.equal(html('a <b onclick="x">c</b>'), '<p>a &lt;b onclick=&quot;x&quot;&gt;c&lt;/b&gt;</p>\n');
  assert.equal(html('<img src="https://evil.test/p.png?d=abc">').includes('<img'), false);
});

test('a remote picture is not loaded: it becomes a link', () => {
  const shown = html('![a](https://evil.test/p.png?d=abc)');
  assert.equal(
    shown,
    '<p><a class="link" role="link" tabindex="0" data-href="https://evil.test/p.png?d=abc" title="https://evil.test/p.png?d=abc">a</a></p>\n',
  );
});

test('a link has no address that the page itself could follow', () => {
  assert.equal(/ href=|src=/.test(html('see [docs](https://example.org/a) and https://example.org')), false);
  assert.match(html('[docs](https://example.org/a)'), /data-href="https:\/\/example.org\/a"/);
});

test('addresses that would act are no links', () => {
  for (const address of [
    'javascript:alert(1)',
    'command:workbench.x',
    'vscode://ext/x',
    'data:text/html,x',
    ' VSCODE-insiders:x',
  ]) {
    assert.equal(html(`[a](<${address}>)`).includes('data-href'), false, address);
  }
});

test('no element carries a style, which the policy would refuse', () => {
  assert.equal(html('|a|b|\n|:-:|--:|\n|1|2|').includes('style'), false);
  assert.match(html('|a|b|\n|:-:|--:|\n|1|2|'), /<td class="center">1<\/td>\n<td class="right">2<\/td>/);
});

test('a name with a dot is no address', () => {
  assert.equal(html('edit setup.py').includes('data-href'), false);
});

test('a diagram is code like any other', () => {
  const [block] = blocks('```mermaid\ngraph TD; A["<img src=x>"]\n```');
  assert.deepEqual(block, {
    kind: 'code',
    language: 'mermaid',
    file: '',
    code: 'graph TD; A["<img src=x>"]',
  });
});

test('a fence says its language and its file', () => {
  assert.deepEqual(fenceInfo('ts src/a/b.ts'), { language: 'ts', file: 'src/a/b.ts' });
  assert.deepEqual(fenceInfo('python title="app.py"'), { language: 'python', file: 'app.py' });
  assert.deepEqual(fenceInfo('src/app.py'), { language: 'py', file: 'src/app.py' });
  assert.deepEqual(fenceInfo(''), { language: '', file: '' });
});

test('an open fence is code from its first line', () => {
  assert.deepEqual(blocks('text\n\n```py\nx = 1'), [
    { kind: 'html', html: '<p>text</p>\n' },
    { kind: 'code', language: 'py', file: '', code: 'x = 1' },
  ]);
});

const LONG = [
  '# Title',
  'A paragraph with `code` and **bold**,\nover two lines.',
  '- one\n- two\n\n  still two\n- three',
  '```ts src/a.ts\nconst a = 1;\n\nconst b = 2;\n```',
  '> a quote\n> of two lines',
  '|a|b|\n|-|-|\n|1|2|',
  '1. first\n2. second',
  'The end.',
].join('\n\n');

test('a text that grows by any steps ends as the whole text read at once', () => {
  for (const step of [1, 2, 3, 7, 19, 64]) {
    const reader = new Growing();
    let last: Block[] = [];
    for (let length = 0; length < LONG.length + step; length += step)
      last = reader.update(LONG.slice(0, length));
    assert.deepEqual(last, blocks(LONG), `steps of ${step}`);
  }
});

test('finished blocks stay the same objects while the text grows', () => {
  const reader = new Growing();
  const [first] = reader.update('one\n\ntwo');
  const later = reader.update('one\n\ntwo and more\n\nthree');
  assert.equal(later[0], first);
  assert.equal(reader.update('one\n\ntwo and more\n\nthree'), later);
});

test('a text that was replaced is read anew', () => {
  const reader = new Growing();
  reader.update('one\n\ntwo');
  assert.deepEqual(reader.update('three'), blocks('three'));
});
