/** A page that draws 60 times a second, and notes when its mouse and keys were used; and one at rest. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const animated = `<!doctype html><title>Animation</title><canvas id="canvas" width="1280" height="700"></canvas><script>
  const context = document.getElementById('canvas').getContext('2d')
  const draw = time => {
    for (let n = 0; n < 60; n += 1) {
      context.fillStyle = 'hsl(' + ((time / 10 + n * 6) % 360) + ' 80% 50%)'
      context.fillRect((n * 97 + time / 5) % 1280, (n * 53) % 700, 60, 40)
    }
    requestAnimationFrame(draw)
  }
  requestAnimationFrame(draw)
</script>`

/** `seen` holds, for each kind of event, when it came (milliseconds since the epoch) and where the mouse was. */
const still = `<!doctype html><title>At rest</title><style>body { margin: 0; height: 100vh }</style><script>
  const seen = { mousedown: [], keydown: [], mousemove: [] }
  for (const kind of Object.keys(seen))
    addEventListener(kind, event => seen[kind].push({ at: performance.timeOrigin + performance.now(), x: event.clientX }))
  addEventListener('mousedown', () => {
    document.body.style.background = document.body.style.background === 'red' ? 'blue' : 'red'
  })
</script>`

export async function startLiveSite(): Promise<AsyncDisposable & { animated: string; still: string }> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(request.url === '/still' ? still : animated)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    animated: `${origin}/animated`,
    still: `${origin}/still`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
