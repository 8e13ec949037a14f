import { expect, it } from 'vitest'
import { testApp } from '#test/support/build-app.ts'
import { sendToTheEnd } from '#test/support/send-to-the-end.ts'

it('an upload that is refused at its beginning may be sent to its end, so that no client loses the answer', async () => {
  const app = await testApp()
  const outcome = await sendToTheEnd(`${await app.listen()}/api/agents/default/sources`, {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    first: '--b\r\ncontent-disposition: form-data; name="file"; filename="program.exe"\r\n\r\n\0',
    rest: 'x'.repeat(10_000_000),
  })
  expect(outcome).toEqual({ status: 415, isConnectionKept: true })
})
