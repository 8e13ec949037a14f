/** A website like a handbook's: pages of 20 to 60 kB with a header, a menu, an article of many parts, and links to one another. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pageCount } from './crawl-size.ts'
import { createWriter } from './text.ts'

const writer = createWriter(7)
const titles = Array.from({ length: pageCount }, () => writer.words(4))
const pages = titles.map((title, at) => Buffer.from(pageOf(title, at)))

const server = createServer((request, response) => {
  const page = request.url === '/' ? pages[0] : pages[Number(/^\/pages\/(\d+)$/.exec(request.url ?? '')?.[1])]
  response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
  response.end(page ?? 'There is no such page.')
})
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

function pageOf(title: string, at: number): string {
  const parts = 5 + (at % 9)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title} | Handbook</title>
<meta name="description" content="${writer.words(20)}"><style>${style()}</style><script>${script()}</script></head>
<body class="page"><header class="top"><div class="logo"><a href="/">Handbook</a></div>
<nav class="main"><ul>${menu(at, 12)}</ul></nav></header>
<div class="layout"><aside class="sidebar"><h2>Contents</h2><ul>${menu(at * 3, 30)}</ul></aside>
<main><article><h1>${title}</h1>${Array.from({ length: parts }, (_, part) => partOf(at, part)).join('\n')}
<p class="pager">${link(at - 1)} ${link(at + 1)}</p></article></main></div>
<footer><div class="columns">${menu(at * 7, 16)}</div><p>All rights reserved. ${writer.words(15)}</p></footer></body></html>`
}

function partOf(at: number, part: number): string {
  const paragraphs = Array.from({ length: 5 }, (_, paragraph) => {
    const aside = `<a href="${address(at * 5 + part * 11 + paragraph)}">${writer.words(2)}</a>`
    return `<p>${writer.text(450)} See <em>${writer.words(2)}</em> and ${aside}.</p>`
  })
  const rows = Array.from(
    { length: 6 },
    () =>
      `<tr><td>${writer.words(2)}</td><td><code>${writer.words(1)}</code></td><td>${writer.words(6)}</td></tr>`,
  )
  return `<section id="part-${part}"><h2>${writer.words(3)}</h2>${paragraphs.join('\n')}
<ul>${Array.from({ length: 5 }, () => `<li><strong>${writer.words(2)}</strong>: ${writer.words(8)}</li>`).join('')}</ul>
<pre><code class="language-js">const value = '${writer.words(3)}'\ncall(value)\n</code></pre>
<table><thead><tr><th>Name</th><th>Kind</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></section>`
}

function menu(from: number, length: number): string {
  return Array.from({ length }, (_, entry) => `<li class="entry">${link(from + entry * 13 + 1)}</li>`).join(
    '',
  )
}

function link(at: number): string {
  const page = (at + pageCount) % pageCount
  return `<a class="link" href="${address(page)}" data-id="${page}">${titles[page]}</a>`
}

function address(at: number): string {
  return `/pages/${(at + pageCount) % pageCount}`
}

function style(): string {
  return Array.from(
    { length: 30 },
    (_, at) => `.c${at} > .entry { margin: ${at}px; color: #33${at + 10}44 }`,
  ).join('\n')
}

function script(): string {
  return Array.from(
    { length: 20 },
    (_, at) => `window.track = (window.track || []).concat({ id: ${at} });`,
  ).join('\n')
}
