import { createHmac } from 'node:crypto'
import type { SecretBox } from '#platform/encryption/secret-box.ts'
import { isEqual } from '#platform/http/requests/inbound-webhook.ts'

/** 132 bits in base64url: Telegram allows 64 bytes in all. */
const signatureLength = 22

/** Makes and reads the tokens of buttons and links: the decision and its notice's id, signed for one agent. */
export function createNoticeTokens({ derive }: Pick<SecretBox, 'derive'>) {
  const key = derive(['decisions by notices'])

  function make(agentId: string, id: string, isApproved: boolean): string {
    const signed = `${isApproved ? 'y' : 'n'}.${id}`
    const signature = createHmac('sha256', key).update(JSON.stringify([agentId, signed]))
    return `${signed}.${signature.digest('base64url').slice(0, signatureLength)}`
  }

  return {
    make,

    /** Returns undefined for a token that was not made here, or was made for another agent. */
    read(agentId: string, token: string): { id: string; isApproved: boolean } | undefined {
      const [decision, id = ''] = token.split('.')
      const isApproved = decision === 'y'
      return isEqual(token, make(agentId, id, isApproved)) ? { id, isApproved } : undefined
    },
  }
}

export type NoticeTokens = ReturnType<typeof createNoticeTokens>
