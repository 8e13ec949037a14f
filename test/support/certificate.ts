/** A certificate that a test makes for itself: X.509 (RFC 5280) in DER, signed with its own key. */
import { generateKeyPairSync, sign } from 'node:crypto'

const tags = { boolean: 1, integer: 2, bits: 3, octets: 4, id: 6, text: 12, time: 23, sequence: 48, set: 49 }
const dnsName = 0x82
const version = 0xa0
const extensions = 0xa3

/** 1.2.840.10045.4.3.2, 2.5.4.3, 2.5.29.17 and 2.5.29.19. */
const ids = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
}

/** Of this host alone, in force from 2020 to 2049. */
export function makeCertificate(host: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(id(ids.ecdsaWithSha256))
  const name = sequence(der(tags.set, sequence(id(ids.commonName), der(tags.text, Buffer.from(host)))))
  const validity = sequence(...['200101000000Z', '491231235959Z'].map(t => der(tags.time, Buffer.from(t))))
  const isAuthority = sequence(
    id(ids.basicConstraints),
    der(tags.octets, sequence(der(tags.boolean, bytes(255)))),
  )
  const names = sequence(id(ids.subjectAltName), der(tags.octets, sequence(der(dnsName, Buffer.from(host)))))
  const certified = sequence(
    der(version, der(tags.integer, bytes(2))),
    der(tags.integer, bytes(1)),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(extensions, sequence(isAuthority, names)),
  )
  const signature = der(tags.bits, bytes(0), sign('sha256', certified, privateKey))
  const certificate = sequence(certified, algorithm, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`,
  }
}

function sequence(...parts: Buffer[]): Buffer {
  return der(tags.sequence, ...parts)
}

function id(hex: string): Buffer {
  return der(tags.id, Buffer.from(hex, 'hex'))
}

function bytes(...values: number[]): Buffer {
  return Buffer.from(values)
}

/** Longer contents than of 127 bytes state their length in two. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  return Buffer.concat([
    length < 128 ? bytes(tag, length) : bytes(tag, 0x82, length >> 8, length & 255),
    content,
  ])
}
