import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Credentials } from '#features/agents/settings.service.ts'
import { verifiedBody } from '#platform/http/requests/inbound-webhook.ts'
import { matches } from '#platform/schema-check.ts'
import type { IncomingMessage } from './incoming-message.ts'
import { readJson } from './incoming-message.ts'

const payloadSchema = Type.Object({
  entry: Type.Array(Type.Object({ changes: Type.Array(Type.Object({ value: Type.Unknown() })) })),
})
const valueSchema = Type.Object({
  metadata: Type.Object({ phone_number_id: Type.String() }),
  contacts: Type.Array(Type.Object({ wa_id: Type.String(), profile: Type.Object({ name: Type.String() }) })),
  messages: Type.Array(Type.Unknown()),
})
const messageSchema = Type.Object({
  from: Type.String({ pattern: '^\\d{1,20}$' }),
  id: Type.String({ minLength: 1, maxLength: 500 }),
  timestamp: Type.String({ pattern: '^\\d{1,12}$' }),
  text: Type.Optional(Type.Object({ body: Type.String() })),
  /** Of a template that was answered by a button. */
  button: Type.Optional(Type.Object({ text: Type.String() })),
})

/** @throws AppError UNAUTHORIZED if it does not come from WhatsApp, or there is no app secret */
export function readWhatsapp(
  request: FastifyRequest,
  _agentId: string,
  { whatsapp_app_secret: secret, whatsapp_phone_number_id: phoneNumberId }: Credentials,
): IncomingMessage[] {
  const payload = readJson(verifiedBody(request, { header: 'x-hub-signature-256', name: 'sha256', secret }))
  if (!matches(payloadSchema, payload)) return []
  return payload.entry
    .flatMap(({ changes }) => changes.map(({ value }) => value))
    .filter(value => matches(valueSchema, value))
    .filter(({ metadata }) => metadata.phone_number_id === phoneNumberId)
    .flatMap(({ contacts, messages }) =>
      messages
        .filter(message => matches(messageSchema, message))
        .map(({ from, id, timestamp, text, button }) => ({
          id: `whatsapp:${id}`,
          address: from,
          name: contacts.find(({ wa_id }) => wa_id === from)?.profile.name ?? '',
          identity: { messenger_number: `+${from}`, phone: `+${from}` },
          position: Number(timestamp),
          text: text?.body ?? button?.text ?? '',
        })),
    )
}
