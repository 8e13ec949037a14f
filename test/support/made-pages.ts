/** Pages as they are found on the web, each with a task that a person does in a minute, and how a model does it by its tools alone. */

/** A tool without `browser_`; the words of a line of the outline whose ref it takes; other arguments. */
export type Step = [tool: string, words?: string | undefined, given?: Record<string, unknown>]

interface MadePage {
  task: string
  /** By path; the first is where the task begins. */
  pages: Record<string, string>
  steps: Step[]
}

/** A page writes this when its task is done. */
export const done = 'All is done here'

const finish = `const finish = () => { document.body.insertAdjacentHTML('beforeend', '<p>${done}</p>') }`
const html = (body: string, script = '', language = '') =>
  `<!doctype html><html${language && ` lang="${language}"`}><title>Made</title><body>${body}<script>${finish};${script}</script></body></html>`
const end = html(`<h1>${done}</h1>`)
const rows = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => `<p>Row ${from + at}</p>`).join('')

export const madePages: MadePage[] = [
  {
    task: 'a box that is drawn over its checkbox',
    pages: {
      '/': html(
        `<style>input{position:absolute;opacity:0;width:20px;height:20px}i{position:relative;display:inline-block;width:20px;height:20px;background:#ccc}</style>
        <label><input type="checkbox" id="box"><i></i> I agree</label><button disabled id="go">Go on</button>`,
        'box.onchange = () => { go.disabled = !box.checked }; go.onclick = finish',
      ),
    },
    steps: [
      ['click', 'checkbox "I agree"'],
      ['click', 'button "Go on"'],
    ],
  },
  {
    task: 'choices whose inputs are hidden',
    pages: {
      '/': html(
        `<style>input{display:none}</style><form><input type="radio" name="size" id="s" value="s"><label for="s">Small</label>
        <input type="radio" name="size" id="l" value="l"><label for="l">Large</label><button>Order</button></form>`,
        'onsubmit = event => { event.preventDefault(); if (l.checked) finish() }',
      ),
    },
    steps: [
      ['click', 'Large'],
      ['click', 'Order'],
    ],
  },
  {
    task: 'terms with a link in their label',
    pages: {
      '/': html(
        `<style>input{position:absolute;width:0;height:0;opacity:0}label{display:block}</style><label><input type="checkbox" id="box">Yes: <a href="/terms">all of the terms and conditions of this shop</a></label>`,
        'box.onchange = finish',
      ),
      '/terms': html('<h1>Terms</h1>'),
    },
    steps: [['click', 'Yes:']],
  },
  {
    task: 'a search without a button',
    pages: { '/': html('<form action="/found"><input name="q" placeholder="Search"></form>'), '/found': end },
    steps: [['type', 'Search', { text: 'cats', submit: true }]],
  },
  {
    task: 'an accordion of headings',
    pages: {
      '/': html(
        '<h3 id="one">Delivery</h3><div hidden id="inner"><button onclick="finish()">Choose express</button></div>',
        'one.addEventListener("click", () => { inner.hidden = false })',
      ),
    },
    steps: [
      ['click', 'Delivery'],
      ['click', 'Choose express'],
    ],
  },
  {
    task: 'a disclosure',
    pages: {
      '/': html(
        '<details><summary>More</summary><button onclick="finish()">The inner button</button></details>',
      ),
    },
    steps: [
      ['click', 'More'],
      ['click', 'The inner button'],
    ],
  },
  {
    task: 'an American date',
    pages: {
      '/': html(
        '<form><label>Arrival <input type="date" id="date"></label><button>Book</button></form>',
        'onsubmit = event => { event.preventDefault(); if (date.value === "2026-03-04") finish() }',
        'en-US',
      ),
    },
    steps: [
      ['type', 'Arrival', { text: '03/04/2026' }],
      ['click', 'Book'],
    ],
  },
  {
    task: 'a German form of dates, times and colours',
    pages: {
      '/': html(
        `<form><label>Tag <input type="date" name="a"></label><label>Zeit <input type="time" name="b"></label><label>Monat <input type="month" name="c"></label>
        <label>Farbe <input type="color" name="d"></label><label>Menge <input type="range" name="e" max="10"></label><button>Senden</button></form>`,
        'onsubmit = event => { event.preventDefault(); if (Object.values(Object.fromEntries(new FormData(event.target))).join() === "2026-04-03,17:30,2026-03,#ff0000,7") finish() }',
        'de',
      ),
    },
    steps: [
      ['type', 'Tag', { text: '3.4.2026' }],
      ['type', 'Zeit', { text: '17.30' }],
      ['type', 'Monat', { text: 'März 2026' }],
      ['type', 'Farbe', { text: 'red' }],
      ['type', 'Menge', { text: '7' }],
      ['click', 'Senden'],
    ],
  },
  {
    task: 'a calendar that the page draws',
    pages: {
      '/': html(
        `<input readonly aria-label="Day"><span id="show" title="Open the calendar"><svg width="20" height="20"></svg></span>
        <table hidden id="days"><tr>${[1, 2, 3].map(day => `<td><div>${day} May</div></td>`).join('')}</tr></table>`,
        'show.onclick = () => { days.hidden = false }; days.onclick = event => { if (event.target.textContent === "2 May") finish() }',
      ),
    },
    steps: [
      ['click', 'Open the calendar'],
      ['click', '2 May'],
    ],
  },
  {
    task: 'an endless list in a shadow root',
    pages: {
      '/': html(
        '<style>html,body{margin:0;height:100%;overflow:hidden}</style><made-list></made-list>',
        `customElements.define('made-list', class extends HTMLElement { connectedCallback() {
          const root = this.attachShadow({ mode: 'open' })
          root.innerHTML = '<div style="height:100vh;overflow-y:auto"></div>'
          const list = root.firstChild
          let next = 0
          const more = () => { for (let at = 0; at < 40; at++) { const row = document.createElement('p'); row.textContent = 'Row ' + next++; row.style.cursor = 'pointer'; row.onclick = () => { if (row.textContent === 'Row 95') row.textContent = '${done}' }; list.append(row) } }
          list.onscroll = () => { if (list.scrollTop + list.clientHeight > list.scrollHeight - 400 && next < 200) more() }
          more()
        } })`,
      ),
    },
    steps: [
      ['scroll', undefined, { direction: 'down', amount: 5000 }],
      ['scroll', undefined, { direction: 'down', amount: 10_000 }],
      ['click', 'Row 95'],
    ],
  },
  {
    task: 'a list that loads when its end is seen',
    pages: {
      '/': html(
        `<div id="list">${rows(0, 60)}</div><button id="last">Load more by scrolling</button>`,
        `let seen = 0; new IntersectionObserver(([entry]) => { if (entry.isIntersecting && ++seen === 2) finish(); else if (entry.isIntersecting) list.insertAdjacentHTML('beforeend', '${rows(60, 60)}') }).observe(last)`,
      ),
    },
    steps: [
      ['scroll', undefined, { direction: 'down', amount: 10_000 }],
      ['scroll', undefined, { direction: 'down', amount: 1_000_000 }],
    ],
  },
  {
    task: 'a login in a second tab',
    pages: {
      '/': html(
        '<a href="/login" target="_blank">Sign in</a><button id="check">Show my account</button>',
        'check.onclick = () => { if (document.cookie.includes("user=Ada")) finish() }',
      ),
      '/login': html(
        '<label>User <input id="user"></label><button id="go">Send</button>',
        'go.onclick = () => { document.cookie = "user=" + user.value; document.title = "Signed in" }',
      ),
    },
    steps: [
      ['click', 'Sign in'],
      ['type', 'User', { text: 'Ada' }],
      ['click', 'Send'],
      ['tabs'],
      ['tabs', undefined, { choose: 1 }],
      ['click', 'Show my account'],
    ],
  },
  {
    task: 'a window that opens late and closes itself',
    pages: {
      '/': html(
        '<button id="pay">Pay</button>',
        'pay.onclick = () => setTimeout(() => window.open("/pay"), 400); onmessage = finish',
      ),
      '/pay': html(
        '<button id="sure">Confirm</button>',
        'sure.onclick = () => { opener.postMessage("paid", "*"); close() }',
      ),
    },
    steps: [
      ['click', 'Pay'],
      ['read', undefined, { find: 'Pay' }],
      ['click', 'Confirm'],
    ],
  },
  {
    task: 'a wizard that asks before it is left',
    pages: {
      '/': html(
        '<label>Name <input id="name"></label><button id="next">Next</button><p id="second" hidden><a href="/end">Finish</a></p>',
        'let changed = false; document.querySelector("input").oninput = () => { changed = true }; next.onclick = () => { second.hidden = false }; onbeforeunload = event => { if (changed) event.preventDefault() }',
      ),
      '/end': end,
    },
    steps: [
      ['type', 'Name', { text: 'Ada' }],
      ['click', 'Next'],
      ['click', 'Finish'],
      ['click', 'Finish', { dialog: 'accept' }],
    ],
  },
  {
    task: 'a form with unsaved input that has to be left',
    pages: {
      '/': html(
        '<label>Name <input></label>',
        'onbeforeunload = event => { if (document.querySelector("input").value) event.preventDefault() }',
      ),
      '/end': end,
    },
    steps: [
      ['type', 'Name', { text: 'Ada' }],
      ['navigate', undefined, { url: '/end' }],
    ],
  },
  {
    task: 'an editor that sends by keys',
    pages: {
      '/': html(
        '<div contenteditable id="note" style="min-height:40px"></div>',
        'note.onkeydown = event => { if (event.key === "Enter" && event.ctrlKey && note.textContent === "Good day") finish() }',
      ),
    },
    steps: [
      ['type', 'note', { text: 'Good day' }],
      ['press', undefined, { key: 'Control+Enter' }],
    ],
  },
  {
    task: 'suggestions that listen to keys',
    pages: {
      '/': html(
        '<input aria-label="City"><ul id="list"></ul>',
        `const field = document.querySelector('input'); let keys = 0
        field.onkeyup = event => { if (event.key === 'Enter' && list.dataset.at === '1') finish(); if (event.key === 'ArrowDown') list.dataset.at = '1'; if (++keys === 3) list.innerHTML = '<li>Rome' }`,
      ),
    },
    steps: [
      ['type', 'City', { text: 'Rom', by_key: true }],
      ['press', undefined, { key: 'ArrowDown' }],
      ['press', undefined, { key: 'Enter' }],
    ],
  },
  {
    task: 'words within a text of a frame',
    pages: {
      '/': html('<iframe src="/inner" width="600" height="300"></iframe>'),
      '/inner': html(
        '<p>The beginning of a text. <span id="more" style="cursor:pointer">Show more</span></p><div hidden id="rest"><img id="pic" alt="A cat" width="30" height="30" src="data:,"></div>',
        'more.onclick = () => { rest.hidden = false }; pic.addEventListener("click", finish)',
      ),
    },
    steps: [
      ['click', 'clickable "Show more"'],
      ['click', 'A cat'],
    ],
  },
  {
    task: 'a question and a dialog that Escape closes',
    pages: {
      '/': html(
        '<dialog id="news">News</dialog><button id="remove">Delete</button>',
        'news.showModal(); remove.onclick = () => { if (confirm("Sure?")) finish() }',
      ),
    },
    steps: [
      ['press', undefined, { key: 'Escape' }],
      ['click', 'Delete', { dialog: 'accept' }],
    ],
  },
  {
    task: 'a choice among two pages',
    pages: {
      '/': html(
        '<a href="/detail">Detail</a><select aria-label="Size"><option value="s">Small<option value="l">Large</select>',
        'document.querySelector("select").onchange = event => { if (event.target.value === "l") finish() }',
      ),
      '/detail': html('<p>The size to choose is Large.</p>'),
    },
    steps: [['click', 'Detail'], ['back'], ['select', 'Size', { values: ['Large'] }]],
  },
]
