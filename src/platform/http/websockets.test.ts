import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { row } from '#test/spec/row.ts'
import { buildApp } from '#test/support/build-app.ts'

/** What the service answers to these bytes, and all that it sends until it ends the connection. */
async function answerTo(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(bytes)
  return await text(socket)
}

it(`${row('POST /api/agents')} is answered where its client also offers another protocol`, async () => {
  const app = await buildApp({ environment: { DEV_USER: 'dev@example.com' } })
  const port = Number(new URL(await app.listen()).port)
  for (const protocol of ['h2c', 'websocket']) {
    const body = JSON.stringify({ name: `offered-${protocol}` })
    const head = `POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close, Upgrade\r\nUpgrade: ${protocol}\r\n`
    const answer = await answerTo(
      port,
      `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 201 /)
  }
  await app.close()
})
