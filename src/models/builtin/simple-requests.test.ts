import { expect, test } from 'vitest'
import { greetingIn, requestsDocuments } from './simple-requests.ts'

test.each([
  ['Hello', 'Hello'],
  [' hi!', 'hi'],
  ['Hey, how are you?', 'Hey'],
  ['Good morning everyone', 'Good morning'],
  ['Guten Tag!', 'Guten Tag'],
  ['Hallo zusammen', 'Hallo'],
  ['Bonjour', 'Bonjour'],
  ['Buenos días.', 'Buenos días'],
  ['Здравствуйте!', 'Здравствуйте'],
  ['مرحبا', 'مرحبا'],
  ['你好！', '你好'],
  ['こんにちは', 'こんにちは'],
  ['안녕하세요?', '안녕하세요'],
])('%s greets', (message, greeting) => expect(greetingIn(message)).toBe(greeting))

test.each([
  '',
  'Hello world programs in C',
  'Hello, how long is the warranty?',
  'Hi-fi',
  'History',
  'Hallo, wie lange gilt die Garantie?',
  '你好吗',
  'What does “Hello” mean?',
])('“%s” is no greeting', message => expect(greetingIn(message)).toBeUndefined())

test.each([
  'Which documents do you have?',
  'what files are there',
  'What sources do you know?',
  'List all documents',
  'Show me your documents!',
  'Please list the sources.',
  'Welche Dokumente hast du?',
  'Welche Dateien gibt es hier?',
  'welche Unterlagen haben Sie?',
  'Zeig mir alle Dokumente',
  'Liste die Quellen auf.',
])('“%s” requests the documents', message => expect(requestsDocuments(message)).toBe(true))

test.each([
  'Which documents do I need for a visa?',
  'Which documents do you have to sign?',
  'List the documents of the applicant',
  'Welche Dokumente brauche ich?',
  'Welche Dokumente gibt es für den Antrag?',
  'Zeig mir die Garantie',
  'List documents 关于保修',
])('“%s” does not', message => expect(requestsDocuments(message)).toBe(false))
