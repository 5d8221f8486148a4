/** Finds unknown and repeated parameters of a query, and reports all of its faults at once. */
import { type Fault, quoted } from '../../fiscal/fault.ts';
import type { Refused } from './route.ts';

/** `what`: the address, as in "Este catálogo". */
export function findStrangeParams(query: URLSearchParams, names: readonly string[], what = 'Este catálogo'): Fault[] {
  const faults: Fault[] = [];
  const list = names.join(', ');
  for (const campo of new Set(query.keys())) {
    const shown = quoted(campo);
    if (!names.includes(campo)) {
      // The valid names are listed only in the first fault, so that an answer is not many times its request.
      const isFirst = !faults.some(({ esperado }) => esperado === list);
      const mensagem = `${what} não tem o parâmetro "${shown}".${isFirst ? ` Os que ele tem são: ${list}.` : ''}`;
      const those = isFirst ? { encontrado: shown, esperado: list } : {};
      faults.push({ codigo: 'E003', xpath: '', mensagem, ...those, campo: shown });
    } else if (query.getAll(campo).length > 1) {
      const mensagem = `O parâmetro ${campo} veio mais de uma vez. Envie-o uma só vez.`;
      faults.push({ codigo: 'E003', xpath: '', mensagem, campo });
    }
  }
  return faults;
}

/** Refusal for at least one fault. */
export function refuseParams(faults: readonly Fault[]): Refused {
  const [first, ...rest] = faults as readonly [Fault, ...Fault[]];
  const detalhes = `São ${faults.length} parâmetros; todos estão na lista erros.`;
  return { refusal: { faults: [rest.length === 0 ? first : { ...first, detalhes }, ...rest] }, status: 400 };
}

/** A whole number from 1 on; undefined: the parameter is missing. */
export function numberIn(text: string | null, max: number): number | 'outside' | undefined {
  if (text === null) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) return 'outside';
  const number = Number(text);
  return number <= max ? number : 'outside';
}
