/** The common rules for the address and the e-mail of every party: an existing municipality and country, and the form of an e-mail. */
import { municipioOf, paisOf } from '../catalogs/catalogs.ts';
import type { Dps } from '../layout/dps.ts';
import { annexHead, type Patch, type Rule, whenPresent } from './rule.ts';

/** An address in Lisbon, without its country, below the path of the address. */
export function addressInLisboa(end: string): Patch {
  return Object.fromEntries([
    [`${end}/endExt/cEndPost`, '1100-148'],
    [`${end}/endExt/xCidade`, 'Lisboa'],
    [`${end}/endExt/xEstProvReg`, 'Lisboa'],
    [`${end}/xLgr`, 'Rua Augusta'],
    [`${end}/nro`, '10'],
    [`${end}/xBairro`, 'Baixa'],
  ]);
}

/** The code of a municipality must exist. `where`: its place in the message; `otherwise`: the alternative remedy. */
export function municipioHead<Of>(where: string, of: (one: Of) => string | undefined, otherwise = '') {
  return {
    code: 'E403',
    message: (one: Of) =>
      `O código IBGE ${of(one)}, ${where}, não é de nenhum município. Consulte o catálogo em /catalogo/municipios${otherwise}.`,
    must: (one: Of) => {
      const code = of(one);
      return code === undefined || municipioOf(code) !== undefined;
    },
    found: of,
    expected: 'código IBGE de um município de /catalogo/municipios',
  } as const;
}

/**
 * The country of a place abroad exists and is not Brazil. `instead`: the advice for Brazil; `where`: the text after the code in the
 * message, unless the rule has a message of its own.
 */
export function paisHead<Of>(of: (one: Of) => string | undefined, instead = '', where = '', name = 'cPais') {
  return {
    message: (one: Of) =>
      of(one) === 'BR'
        ? `${name} BR${where} não é exterior: ${instead}`
        : `${name} ${of(one)}${where} não é um código de país ISO 3166-1. Consulte o catálogo em /catalogo/paises.`,
    why: 'O endereço no exterior exige um país que exista e não seja o Brasil.',
    must: (one: Of) => {
      const code = of(one);
      return code === undefined || paisOf(code)?.aceitoEnderecoExterior === true;
    },
    found: of,
    expected: 'código ISO 3166-1 de duas letras, diferente de BR',
  } as const;
}

/** One `@` between a name and a domain of at least two parts. The existence of the address is not checked. */
const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;

/** The form of an e-mail. `whose`: `do tomador`. */
export function checkEmail(
  { code, at, whose, ...examples }: Pick<Rule, 'code' | 'at' | 'rejects' | 'accepts'> & { readonly whose: string },
  of: (dps: Dps) => string | undefined,
): Rule {
  return whenPresent(of, {
    ...annexHead(code),
    at,
    title: `O e-mail ${whose} não tem a forma de um e-mail`,
    message: (email) =>
      `O e-mail ${whose}, ${email}, não tem a forma de um endereço. Corrija-o ou retire ${at}, que é opcional.`,
    mend: `Informe um só endereço, como nome@empresa.com.br, ou retire ${at}, que é opcional.`,
    why: 'Um endereço tem um nome, um @ e um domínio com ponto; o ambiente nacional confere a forma.',
    must: (email) => EMAIL.test(email),
    found: (email) => email,
    expected: 'endereço como nome@empresa.com.br',
    ...examples,
  });
}

/** A party of the DPS, by its identifiers. */
type Identified = { readonly CNPJ?: string | undefined; readonly CPF?: string | undefined };

/** The message about a party with an address abroad and no NIF. Only one identifier fits: a CNPJ or CPF must be removed. */
export function askForNif(called: string, group: string, { CNPJ, CPF }: Identified): string {
  const motivo = `${group}/cNaoNIF com o motivo (0 sem NIF, 1 dispensado, 2 não exigido)`;
  const sent = CNPJ === undefined ? 'CPF' : 'CNPJ';
  return (CNPJ ?? CPF) === undefined
    ? `O ${called} tem endereço no exterior e não traz NIF. Informe ${group}/NIF ou, se não há NIF, ${motivo}.`
    : `O ${called} tem endereço no exterior e é identificado por ${sent}; só cabe um identificador, e ali é o NIF. Retire ${group}/${sent} e ponha no lugar ${group}/NIF ou, se não há NIF, ${motivo}. Se o ${called} está no Brasil, fica o ${sent}, e o endereço vai em endNac.`;
}
