/** The parts by which mail programs and messengers recognize addresses. */
const signs = [
  /:(?=\/\/)/u,
  /(?<=\b(?:mailto|tel|sms|callto|facetime|skype|sips?|xmpp|geo|magnet|bitcoin|news|data|javascript)):(?=\S)/u,
  /[@＠](?=\S)/u,
  // A top-level domain has at least two letters, so the dots of numbers, versions and abbreviations stay.
  /(?<=\S)[.．｡․﹒](?=\p{L}[\p{L}\p{M}]|xn--)/u,
  // This one also ends sentences.
  /(?<=[a-z\d])。(?=\p{L})|(?<=\p{L})。(?=[a-z\d])/u,
  /(?<=\b(?:www|ftp)\d{0,3})\.(?=\S)/u,
]
const anySign = new RegExp(signs.map(({ source }) => source).join('|'), 'giu')
const ipv4 = /(?<!\d)(?:\d{1,3}\.){3}\d{1,3}(?!\d)/g

/** Returns the text with its addresses in a form that no program makes a link: `https[:]//evil[.]example`, `ann[@]evil[.]example`. */
export function withoutLinks(text: string): string {
  return text.replaceAll(anySign, '[$&]').replaceAll(ipv4, address => address.replaceAll('.', '[.]'))
}
