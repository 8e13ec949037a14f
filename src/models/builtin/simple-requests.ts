/** Messages that are not about the contents of documents, recognised by their first words. */
import { contentWordsOf } from './best-passages.ts'

const greetings = [
  'hello|hi|hey|good (?:morning|afternoon|evening|day)',
  'hallo|moin|servus|grüß (?:gott|dich)|guten (?:morgen|tag|abend)',
  'bonjour|bonsoir|salut|hola|buen[oa]s (?:días|dias|tardes|noches)|ciao|buon ?giorno|olá|bom dia|boa tarde',
  'hej|merhaba|привет|здравствуйте|добрый день|γεια σας|مرحبا|السلام عليكم|नमस्ते',
  '你好|您好|こんにちは|안녕하세요',
]
const greeting = new RegExp(
  `^\\s*(${greetings.join('|')})(?: (?:zusammen|everyone|all))?(?![\\p{L}\\p{N}])`,
  'iu',
)

const documents = 'documents?|files?|sources?|dokumente?|dateien|quellen|unterlagen'
const requestsForDocuments = [
  `(?:which|what) (?:${documents}) (?:do you (?:have|know)|have you(?: got)?|are (?:there|available))`,
  `(?:please )?(?:list|show)(?: me)?(?: all)?(?: of)?(?: the| your)? (?:${documents})`,
  `welche (?:${documents}) (?:hast du|habt ihr|haben sie|kennst du|kennen sie|gibt es|sind (?:da|vorhanden))`,
  `(?:bitte )?(?:liste|zeige?|nenne?)(?: mir| uns)?(?: alle)?(?: die| deine| ihre)? (?:${documents})(?: auf| an)?`,
]
const requestForDocuments = new RegExp(
  `^(?:${requestsForDocuments.join('|')})(?: here| hier)?[^\\p{L}\\p{N}]*$`,
  'iu',
)

/** Returns the greeting of a message that consists of nothing else. */
export function greetingIn(message: string): string | undefined {
  const said = message.match(greeting)?.[1]
  return contentWordsOf(message.replace(greeting, '')).length === 0 ? said : undefined
}

export function requestsDocuments(message: string): boolean {
  return requestForDocuments.test(message.trim())
}
