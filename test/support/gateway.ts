/** An identity gateway on loopback: publishes its keys and signs tokens with them. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

export const audience = 'agentstead-tests'
export const issuer = 'https://gateway.test'
export const headerName = 'edge-access-jwt-assertion'

export interface Gateway {
  /** Environment variables that turn it on. */
  environment: Record<string, string>
  /** Requests for the keys so far. */
  fetches(): number
  /** From here on tokens are signed with a new key; the old one is published no more. */
  rotate(): Promise<void>
  /** A header with a token for this e-mail; claims override the usual ones, undefined leaves one out. */
  headers(email: string, claims?: JWTPayload): Promise<Record<string, string>>
  close(): Promise<void>
}

export async function startGateway(): Promise<Gateway> {
  let fetches = 0
  let current = await makeKey('key-1')
  const server = createServer((_request, response) => {
    fetches += 1
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [current.publicKey] }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    environment: {
      GATEWAY_JWKS_URL: `http://127.0.0.1:${port}/certs`,
      GATEWAY_AUDIENCE: audience,
      GATEWAY_ISSUER: issuer,
    },
    fetches: () => fetches,
    async rotate() {
      current = await makeKey('key-2')
    },
    async headers(email, claims = {}) {
      const now = Math.floor(Date.now() / 1000)
      const usual = { email, aud: [audience], iss: issuer, iat: now, exp: now + 600 }
      const token = await new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: current.id })
        .sign(current.privateKey)
      return { [headerName]: token }
    },
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
}

async function makeKey(id: string) {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: id, alg: 'RS256', use: 'sig' }
  return { id, privateKey, publicKey: jwk }
}
