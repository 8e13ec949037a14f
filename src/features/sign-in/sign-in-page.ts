import { hash } from 'node:crypto'

const style =
  'body { max-width: 34rem; margin: 3rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui } button { font: inherit }'

/** Posts the token of the address's fragment, which no log has seen; that of an invitation once it is clicked, as programs that check mails open links. */
export const signInScript = `const given = new URLSearchParams(location.hash.slice(1))
const [token, invitation] = [given.get('token'), given.get('invitation')]
const [note, button] = [document.querySelector('#note'), document.querySelector('button')]
const target = new URLSearchParams(location.search).get('return_to') ?? '/'
async function signIn() {
  button.hidden = true
  const body = JSON.stringify({ token: token ?? invitation })
  const answer = await fetch('/api/auth/link', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const said = await answer.text()
  history.replaceState(null, '', location.pathname)
  if (answer.ok) location.replace(/^\\/(?![/\\\\])/.test(target) ? target : '/')
  else note.textContent = said.startsWith('{') ? JSON.parse(said).error.message : said
}
button.addEventListener('click', signIn)
if (token) signIn()
button.hidden = !invitation
`

export const signInPagePolicy = `default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

interface Page {
  /** The host of the identity provider, where people sign in by one. */
  provider: string | undefined
  returnTo: string
  /** Why a person was not signed in; else empty. */
  problem: string
}

export function signInPage({ provider, returnTo, problem }: Page): string {
  const start = `/api/auth/sign-in?return_to=${encodeURIComponent(returnTo)}`
  const way =
    provider === undefined
      ? 'Open your sign-in link. The operator makes one by <code>npm run sign-in -- you@example.com</code>.'
      : `<a href="${escaped(start)}">Sign in at ${escaped(provider)}</a>`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in to agentstead</title>
<style>${style}</style>
<h1>Sign in to agentstead</h1>
<p id="note" role="alert">${escaped(problem)}</p>
<p><button hidden>Accept the invitation</button></p>
<p>${way}</p>
<script type="module" src="/sign-in/page.js"></script>
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
