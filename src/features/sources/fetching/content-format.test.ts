import { expect, it } from 'vitest'
import { formatOfContent } from './content-format.ts'

it.each([
  ['application/json', '/', 'json'],
  ['APPLICATION/JSON; charset=utf-8', '/', 'json'],
  ['text/json', '/', 'json'],
  ['application/ld+json', '/', 'json'],
  ['application/jsonl', '/', 'json'],
  ['application/json', '/a.csv', 'json'],
  ['text/csv;header=present', '/', 'csv'],
  ['text/tab-separated-values', '/', 'csv'],
  ['text/markdown; charset=UTF-8', '/', 'md'],
  ['text/html', '/a.pdf', 'html'],
  ['text/html, text/html; charset=utf-8', '/', 'html'],
  ['application/xhtml+xml', '/', 'html'],
  ['application/rss+xml', '/', 'txt'],
  ['text/yaml', '/', 'txt'],
  ['text/plain', '/', 'txt'],
  ['text/plain', '/a.MD', 'md'],
  ['text/plain', '/a.json?b=c', 'json'],
  ['text/plain', '/a.pdf', 'txt'],
  ['text/plain', '/a.exe', 'txt'],
  ['', '/a.docx', 'docx'],
  ['application/octet-stream', '/a.pdf', 'pdf'],
  ['application/octet-stream', '/a', undefined],
  ['', '/', undefined],
  ['image/svg+xml', '/', undefined],
  ['image/png', '/a.txt', undefined],
  ['application/zip', '/a.docx', undefined],
  ['application/javascript', '/', undefined],
  ['nonsense', '/', undefined],
])('an answer of type %j at %s is read as %s', (type, path, format) => {
  expect(formatOfContent(type, `https://example.com${path}`)).toBe(format)
})
