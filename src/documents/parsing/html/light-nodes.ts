import { Node } from 'linkedom'

/**
 * linkedom prepares each node, and that is each text and attribute, too, for listeners to events, with an entry in a map of
 * weak references that its constructor makes: a quarter of the time that it takes to read a page goes there, most of it when
 * memory is collected. Pages have no listeners here, so their nodes are constructed without it.
 */
export function lightenNodes(): void {
  // The export of linkedom stands in front of the class itself.
  const nodeClass = Object.getPrototypeOf(Node)
  Object.setPrototypeOf(nodeClass, class {})
}
