import type { Answer, CallOptions, TestApp } from './build-app.ts'

export interface CreatedSource {
  id: string
  type: string
  name: string
  status: string
  created_at: string
}

/** A multipart form as a call sends it; fields and file in the order given. */
export async function formOf(
  parts: [name: string, value: string | File][],
): Promise<Required<Pick<CallOptions, 'payload' | 'headers'>>> {
  const form = new FormData()
  for (const [name, value] of parts) form.append(name, value)
  const encoded = new Response(form)
  const headers = { 'content-type': encoded.headers.get('content-type') ?? '' }
  return { payload: Buffer.from(await encoded.arrayBuffer()), headers }
}

interface Upload {
  name: string
  content: string | Uint8Array
  fields?: Record<string, string>
  agentId?: string
  headers?: Record<string, string>
}

/** Uploads a file as a person would with a form. */
export async function upload(
  app: TestApp,
  { name, content, fields = {}, agentId = 'default', headers = {} }: Upload,
): Promise<Answer<CreatedSource>> {
  const file = new File([typeof content === 'string' ? content : new Uint8Array(content)], name)
  const form = await formOf([['type', 'file'], ['name', name], ...Object.entries(fields), ['file', file]])
  return app.call<CreatedSource>('POST', `/api/agents/${agentId}/sources`, {
    ...form,
    headers: { ...headers, ...form.headers },
  })
}

/** Uploads a file and waits until it was processed. */
export async function uploadAndProcess(app: TestApp, options: Upload): Promise<string> {
  const { status, body } = await upload(app, options)
  if (status !== 201) throw new Error(`the upload was answered with ${status}: ${JSON.stringify(body)}`)
  await app.service.infrastructure.runner.idle()
  return body.id
}
