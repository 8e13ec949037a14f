/** Pages, each of one line of script, that once ended the service, blocked its event loop or filled its memory. */
interface HostilePage {
  name: string
  html: string
  /** Whether the session of the page is ended for it. */
  endsSession?: boolean
}

const page = (source: string) => `<!doctype html><title>x</title><body><script>${source}</script>`

/** More than any message may have, of characters that take six times as many bytes in JSON. */
const text = "'\\u0001'.repeat(2e7)"

export const hostilePages: HostilePage[] = [
  {
    name: 'a line of the console of 600 MB',
    html: page("console.log('\\u0001'.repeat(1e8))"),
    endsSession: true,
  },
  { name: 'a window with a name of 120 MB', html: page(`open('about:blank', ${text})`), endsSession: true },
  {
    name: 'a frame with a name of 120 MB',
    html: page(`document.body.append(Object.assign(document.createElement('iframe'), { name: ${text} }))`),
    endsSession: true,
  },
  { name: 'a prompt of 120 MB', html: page(`prompt(${text})`) },
  {
    name: 'a request with a body of 120 MB',
    html: page(`fetch('/', { method: 'POST', body: ${text} })`),
  },
  {
    name: 'a console that is flooded',
    html: page(
      "setInterval(() => { for (let i = 0; i < 2000; i += 1) console.log('x'.repeat(2000) + i) }, 10)",
    ),
  },
  {
    name: '50,000 fields of passwords',
    html: page("document.body.innerHTML = '<input type=password>'.repeat(50000)"),
  },
  { name: 'a title of 20 million characters', html: page("document.title = 'x'.repeat(2e7)") },
]
