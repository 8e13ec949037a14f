import { UnreadableDocument } from '../../parsed-document.ts'

export function damagedDocument(cause?: unknown): UnreadableDocument {
  return new UnreadableDocument('This file is damaged or not a Word document (.docx).', cause)
}
