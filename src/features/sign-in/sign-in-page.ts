import { hash } from 'node:crypto'

const style = 'body { max-width: 34rem; margin: 3rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui }'

/** The page loads nothing, runs nothing, and can't be framed; only its own style counts. */
export const refusalPagePolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Answers a browser that has come back from the identity provider, but was not signed in. */
export function refusalPage(problem: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in to agentstead</title>
<style>${style}</style>
<h1>You are not signed in</h1>
<p role="alert">${escaped(problem)}</p>
<p><a href="/sign-in">Back to the sign-in</a></p>
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
