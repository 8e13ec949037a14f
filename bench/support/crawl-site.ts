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
  const parts = 3 + (at % 7)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title} | Handbook</title>
<meta name="description" content="${writer.words(20)}"><link rel="stylesheet" href="/style.css"><style>${style()}</style>
<script>${script()}</script></head><body class="page layout-wide theme-light"><header class="top top-bar">
<div class="top-bar__logo"><a href="/">${icon()}Handbook</a></div><nav class="top-bar__menu"><ul>${menu(at, 12)}</ul></nav>
</header><div class="layout layout--columns"><aside class="sidebar"><h2 class="sidebar__title">Contents</h2>
<nav><ul class="sidebar__list">${menu(at * 3, 30)}</ul></nav></aside><main class="layout__main"><article class="article">
<h1 class="article__title">${title}</h1>${Array.from({ length: parts }, (_, part) => partOf(at, part)).join('\n')}
<p class="article__pager">${link(at - 1)} ${link(at + 1)}</p></article></main></div><footer class="bottom">
<ul class="bottom__columns">${menu(at * 7, 16)}</ul><p>All rights reserved. ${writer.words(15)}</p></footer>
<script type="application/json">${state(at)}</script></body></html>`
}

/** As generators of such sites write it: most of the bytes are markup. */
function partOf(at: number, part: number): string {
  const paragraphs = Array.from({ length: 3 }, (_, paragraph) => {
    const aside = link(at * 5 + part * 11 + paragraph)
    return `<p class="article__paragraph">${writer.text(350)} See <em>${writer.words(2)}</em> and ${aside}.</p>`
  })
  const rows = Array.from(
    { length: 4 },
    () =>
      `<tr class="table__row"><td class="table__cell">${writer.words(1)}</td><td class="table__cell"><code class="code code--inline">${writer.words(1)}</code></td><td class="table__cell">${writer.words(6)}</td></tr>`,
  )
  return `<section class="article__part" id="part-${part}" data-part="${part}"><h2 class="article__heading">${writer.words(3)}
<a class="article__anchor" href="#part-${part}" aria-label="Link to this part">${icon()}</a></h2>${paragraphs.join('\n')}
<ul class="article__list">${Array.from({ length: 4 }, () => `<li class="article__item"><strong>${writer.words(2)}</strong>: ${writer.words(8)}</li>`).join('')}</ul>
<div class="code-block"><pre class="code-block__text"><code class="language-js">${Array.from({ length: 6 }, codeLine).join('\n')}</code></pre></div>
<div class="table-wrapper"><table class="table"><thead><tr><th>Name</th><th>Kind</th><th>Meaning</th></tr></thead>
<tbody>${rows.join('')}</tbody></table></div></section>`
}

function codeLine(): string {
  return `<span class="line"><span class="token keyword">const</span> <span class="token variable">${writer.words(1)}</span> <span class="token operator">=</span> <span class="token string">'${writer.words(1)}'</span></span>`
}

function icon(): string {
  return '<svg class="icon" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><path d="M7.775 3.275a.75.75 0 001.06 1.06l1.25-1.25a2 2 0 112.83 2.83l-2.5 2.5a2 2 0 01-2.83 0"></path></svg>'
}

function menu(from: number, length: number): string {
  return Array.from(
    { length },
    (_, entry) => `<li class="menu__entry menu__entry--level-1">${link(from + entry * 13 + 1)}</li>`,
  ).join('')
}

/** What such pages carry along for their scripts. */
function state(at: number): string {
  return JSON.stringify({
    page: at,
    related: Array.from({ length: 20 }, (_, one) => ({ id: one, title: titles[one] })),
  })
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
