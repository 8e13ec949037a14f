import { hash } from 'node:crypto'

const style =
  'body { max-width: 46rem; margin: 3rem auto; font: 1rem/1.5 system-ui } pre { overflow-x: auto }'

/** A policy for a page that loads nothing, runs nothing and can't be framed; only its own style counts. */
export const startPagePolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/**
 * Returns the page for a person who opens the service in a browser while the console is not built. `address`
 * is that of the service, and not from the request.
 */
export function startPage({ version, address, ready }: { version: string; address: string; ready: boolean }) {
  // An address in this form has no characters that open an element.
  const agent = new URL(`${address.replace(/\/$/, '')}/api/agents/default`).href
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>agentstead</title>
<style>${style}</style>
<h1>agentstead</h1>
<p>This service hosts AI agents: they chat, answer from your documents, and act through tools.</p>
<p>Version ${version}: <strong>${ready ? 'ready' : 'not ready, see the log'}</strong></p>
<h2>The web console is not built</h2>
<p>Run <code>npm ci</code> in the folder of the service, or <code>npm run prepare</code> where packages for development are installed, and reload this page.</p>
<h2>First commands</h2>
<p>Give the agent <code>default</code> a document, see whether it is <code>ready</code>, and ask something:</p>
<pre>curl -F type=file -F name=Manual -F file=@manual.pdf ${agent}/sources</pre>
<pre>curl ${agent}/sources</pre>
<pre>curl -N ${agent}/chat -H 'Content-Type: application/json' -d '{"content":"What does it say?","stream":true}'</pre>
<h2>Read on</h2>
<p><a href="/docs/">Every call of the API</a>, also as an <a href="/openapi.json">OpenAPI document</a>.</p>
</html>
`
}
