/** The places of the elements of a DPS in its JSON body, and the elements that need no further fault. */
import { DPS_BASE, NOTE_BASE } from './plan-corpo.ts';

const INDEX = /\[\d+\]/g;

export class BodyPlaces {
  /** Offset of the value of each element, by xpath: the recorded ones, and those that were looked up since. */
  #pending: [xpath: string, offset: number][] = [];
  readonly #offsets = new Map<string, number>();
  /** Elements that have their fault already; a slash at the end includes all their content. */
  readonly #explained = new Set<string>();
  /** Groups under a wrong name: the correct place, and the sent one. */
  readonly #misnamed: (readonly [right: string, sent: string])[] = [];

  set(xpath: string, offset: number): void {
    this.#pending.push([xpath, offset]);
  }

  /** A valid body needs no place, so the map is built only now. */
  #known(): ReadonlyMap<string, number> {
    for (const [xpath, offset] of this.#pending) this.#offsets.set(xpath, offset);
    this.#pending = [];
    return this.#offsets;
  }

  /** The offset of a value, or of the nearest object in which it is missing. */
  offsetOf(xpath: string): number {
    const known = this.#known();
    for (let at = xpath; at.length > 1; at = at.slice(0, at.lastIndexOf('/'))) {
      const offset = known.get(at);
      if (offset !== undefined) return offset;
    }
    return known.get(DPS_BASE) ?? 0;
  }

  /** Whether a path is of a value of the note that was not declared: its fault then names no property (D-113). */
  isUndeclared(xpath: string): boolean {
    return xpath.startsWith(`${NOTE_BASE}/`) && !this.#known().has(xpath);
  }

  /** No further fault is reported for an element or its content. */
  explain(xpath: string): void {
    this.#explained.add(xpath).add(`${xpath}/`);
  }

  /** No further fault is reported for an element itself; its content is still judged. */
  explainEmptiness(xpath: string): void {
    this.#explained.add(xpath);
  }

  /** The paths of the elements that have their fault already. */
  explained(): readonly string[] {
    return [...this.#explained].filter((xpath) => !xpath.endsWith('/'));
  }

  isExplained(xpath: string): boolean {
    if (this.#explained.size === 0) return false;
    // A list that is wrong as a whole has no members to count.
    return this.#isWithin(xpath) || (xpath.includes('[') && this.#isWithin(xpath.replace(INDEX, '')));
  }

  #isWithin(xpath: string): boolean {
    if (this.#explained.has(xpath)) return true;
    for (let slash = xpath.lastIndexOf('/'); slash > 0; slash = xpath.lastIndexOf('/', slash - 1)) {
      if (this.#explained.has(xpath.slice(0, slash + 1))) return true;
    }
    return false;
  }

  /** A group was sent under a wrong name. */
  misname(right: string, sent: string): void {
    this.#misnamed.push([right, this.asSent(sent)]);
  }

  /** The name of a property with the groups around it as they were sent, even under wrong names. */
  asSent(campo: string): string {
    // Outer groups were opened first, so the last match is the innermost.
    const around = this.#misnamed.findLast(
      ([right]) => campo.startsWith(right) && /^[.[]/.test(campo.slice(right.length)),
    );
    return around === undefined ? campo : around[1] + campo.slice(around[0].length);
  }
}
