/** Codes of the content of a DPS: those that the reader finds in single elements, and those of rules that explain the rest themselves. */
import { VERSOES } from '../layout/layouts.ts';
import type { Patch } from '../rules/rule.ts';
import { TOMADOR_NO_EXTERIOR } from '../rules/toma.ts';
import { aboutTheDocument, type Row } from './row.ts';

/** A work identified by its CIB, for a service that must name the work. */
const OBRA: Patch = { 'serv/cServ/cTribNac': '070201', 'serv/obra/cCIB': '12345678' };

const OBRA_COM_ENDERECO: Patch = {
  'serv/cServ/cTribNac': '070201',
  'serv/obra/end/CEP': '01001000',
  'serv/obra/end/xLgr': 'Praça da Sé',
  'serv/obra/end/nro': '1',
  'serv/obra/end/xBairro': 'Sé',
};

const PISCOFINS = 'valores/trib/tribFed/piscofins';

const PIS: Patch = {
  [`${PISCOFINS}/CST`]: '01',
  [`${PISCOFINS}/vBCPisCofins`]: '1000.00',
  [`${PISCOFINS}/pAliqPis`]: '0.65',
  [`${PISCOFINS}/vPis`]: '6.50',
};

const COFINS: Patch = {
  [`${PISCOFINS}/CST`]: '01',
  [`${PISCOFINS}/vBCPisCofins`]: '1000.00',
  [`${PISCOFINS}/pAliqCofins`]: '3.00',
  [`${PISCOFINS}/vCofins`]: '30.00',
};

/** Remarks: the note is issued, and the sender learns of a possible problem. */
export const AVISOS: readonly Row[] = [
  {
    codigo: 'E0004',
    status: 'aviso',
    mensagem: 'O Id enviado não é o identificador desta DPS',
    significado:
      'O atributo Id de infDPS tem a forma de um identificador, mas não é o que resulta do conteúdo: município, tipo e número da inscrição federal, série e número. A nota é emitida, e vale o identificador calculado.',
    comoResolver:
      'Consulte a DPS pelo identificador que o aviso traz. Para não receber o aviso, monte o Id com os mesmos campos.',
    transitorio: false,
    origem: 'Decisão D-16; Anexo I, E0004',
    nacional:
      'No padrão nacional um Id diferente recusa a DPS. A nota que segue ao ADN leva o identificador calculado.',
    pedidos: [
      {
        titulo: 'A DPS é do CNPJ 11222333000181, série 1 e número 42',
        recusado: '<infDPS Id="DPS355030821122233300018100001000000000000041">',
        aceito: '<infDPS Id="DPS355030821122233300018100001000000000000042">',
      },
    ],
  },
  {
    codigo: 'E1515',
    status: 'aviso',
    mensagem: 'A nota fica retida até a publicação das alíquotas do IBS e da CBS',
    significado:
      'A DPS traz o grupo IBSCBS, mas o cálculo não pôde ser feito: não há alíquota publicada para a competência. A nota é emitida, com número e chave, e fica retida: não é enviada ao ADN, que a recusaria, e segue sozinha, com IBS e CBS calculados, quando o município importar a alíquota.',
    comoResolver:
      'Confira a competência. Se ela é a certa, não há o que corrigir na DPS: aguarde, e não emita de novo. Os valores de IBS e CBS declarados no corpo JSON são comparados quando houver alíquota.',
    transitorio: false,
    origem: 'Especificação, IBS/CBS obligation schedule: regra 5; Anexo I, E1515',
    nacional: 'No padrão nacional a falta do grupo calculado recusa a nota.',
    pedidos: [
      {
        titulo: 'Uma competência para a qual ainda não há alíquota publicada, e uma para a qual há',
        recusado: '<dCompet>2027-01-05</dCompet>',
        aceito: '<dCompet>2026-10-05</dCompet>',
      },
    ],
  },
];

/** The reader finds these in the document alone. */
export const ESTRUTURA: readonly Row[] = aboutTheDocument([
  {
    codigo: 'E0001',
    mensagem: 'Tipo de dado inválido',
    significado: 'O texto do elemento não é do tipo que o leiaute pede: não é um número decimal, ou não é uma data.',
    comoResolver:
      'Escreva números com ponto decimal e duas casas, sem separador de milhar, e datas como AAAA-MM-DD. Quando a correção é evidente, correcao a traz.',
    origem: 'Especificação, Errors: E0001; decisão D-12',
    nacional: 'No padrão nacional E0001 é a versão do leiaute da DPS que já não é aceita.',
    exemplos: {
      rejects: [{ 'valores/vServPrest/vServ': '1.000,00' }, { dCompet: '05/10/2026' }],
      accepts: [{ 'valores/vServPrest/vServ': '1000.00' }, { dCompet: '2026-10-05' }],
    },
  },
  {
    codigo: 'E0002',
    statuses: [422, 400],
    mensagem: 'Valor fora do conjunto ou do intervalo aceito',
    significado:
      'O elemento tem uma lista de valores, ou um máximo, e o que veio está fora: tribISSQN além de 4, alíquota acima de 100. Nos eventos vem com HTTP 400, quando um motivo não é dos que o tipo aceita, e nos catálogos também, quando page ou per_page está fora dos limites.',
    comoResolver:
      'Use um dos valores que esperado enumera. O 0 que alguns campos têm no padrão nacional é reservado ao compartilhamento e não se usa na emissão.',
    origem: 'Especificação, Errors: E0002; decisões D-12, D-50 e D-83',
    nacional:
      'No padrão nacional um valor fora da lista é falha de esquema, E1235, e o 0 de alguns campos tem código próprio: E0333, E0341, E0343 e E0345 no comércio exterior.',
    exemplos: {
      rejects: [{ 'valores/trib/tribMun/tribISSQN': '5' }, { 'valores/trib/tribMun/pAliq': '100.01' }],
      accepts: [{ 'valores/trib/tribMun/tribISSQN': '1' }, { 'valores/trib/tribMun/pAliq': '5.00' }],
    },
  },
  {
    codigo: 'E0003',
    mensagem: 'Formato inválido',
    significado:
      'O texto não tem o tamanho ou o formato do elemento: código IBGE sem 7 dígitos, cTribNac sem 6, documento com dígito verificador errado, espaço no começo ou no fim, ou caractere fora do Latin-1, onde o esquema nacional não os admite, elemento opcional ou grupo vazio.',
    comoResolver:
      'Compare encontrado com esperado; quando há correcao, ela se cola no lugar do que veio. Códigos e documentos vão sem pontuação e com os zeros à esquerda.',
    origem: 'Especificação, Errors: E0003; decisões D-12 e D-34',
    nacional:
      'Os dígitos verificadores de CNPJ e CPF têm no padrão nacional um código em cada grupo: E0188 e E0206 no tomador, E0248 e E0266 no intermediário, E0911 e E0913 no destinatário, E0478 e E0484 no fornecedor.',
    exemplos: {
      rejects: [{ cLocEmi: '355030' }, { 'serv/cServ/cTribNac': '01.01.01' }, { 'toma/CPF': '52998224726' }],
      accepts: [{ cLocEmi: '3550308' }, { 'serv/cServ/cTribNac': '010101' }, { 'toma/CPF': '52998224725' }],
    },
  },
  {
    codigo: 'E0010',
    mensagem: `Elemento que o leiaute ${VERSOES} não tem, ou que não se envia`,
    significado: `A tag ou o atributo não existe naquele grupo do leiaute nacional ${VERSOES}, é de um leiaute anterior, ou é preenchida pelo serviço: dhEmi, vISSQN, base de cálculo, município de incidência. Num corpo JSON, a propriedade é desconhecida.`,
    comoResolver:
      'Use o nome que a mensagem indica, no lugar indicado, ou retire o elemento quando ela diz que o serviço o calcula; correcao vazia diz o mesmo a um programa.',
    origem: 'Especificação, Errors: E0010 e Versioning; decisões D-12 e D-24',
    nacional: 'No padrão nacional E0010 é a série fora da faixa reservada ao tipo de emitente.',
    exemplos: {
      rejects: [
        { '+dhEmi': '2026-10-05T10:15:30-03:00' },
        { 'serv/locPrest/cLocPrestacao': null, '+serv/cMunPrest': '3550308' },
        { 'toma/email': null, '+toma/xEmail': 'maria@exemplo.com.br' },
        { '+valores/trib/tribMun/vISSQN': '20.00' },
      ],
      accepts: [{ 'serv/locPrest/cLocPrestacao': '3550308' }, { 'toma/email': 'maria@exemplo.com.br' }],
    },
  },
  {
    codigo: 'E0011',
    mensagem: 'A obra tem mais de uma identificação, ou nenhuma',
    significado:
      'O grupo serv/obra identifica a obra por um só destes: cObra, cCIB ou end. inscImobFisc acompanha qualquer deles e não conta como identificação.',
    comoResolver: 'Deixe uma só identificação da obra.',
    origem: 'Especificação, DPS: serv/obra; Errors: E0011',
    exemplos: { rejects: [{ ...OBRA, ...OBRA_COM_ENDERECO }], accepts: [OBRA, OBRA_COM_ENDERECO] },
  },
  {
    codigo: 'E0188',
    mensagem: 'O tomador não tem exatamente um identificador',
    significado: 'O grupo toma traz mais de um, ou nenhum, destes: CNPJ, CPF, NIF e cNaoNIF.',
    comoResolver:
      'Deixe um só: CNPJ ou CPF de quem os tem, NIF de quem está no exterior, cNaoNIF quando não há NIF. Sem tomador identificado, retire o grupo toma.',
    origem: 'Especificação, DPS: toma; Errors: E0188',
    nacional: 'No padrão nacional E0188 é o dígito verificador do CNPJ do tomador; aqui esse caso responde E0003.',
    exemplos: {
      rejects: [{ 'toma/CNPJ': '11444777000161' }, { 'toma/CPF': null }],
      accepts: [
        { 'toma/CPF': null, 'toma/CNPJ': '11444777000161' },
        { toma: null, 'IBSCBS/cIndOp': '030101' },
      ],
    },
  },
  {
    codigo: 'E0191',
    mensagem: 'NIF vazio',
    significado: 'A parte no exterior foi identificada por NIF, e o elemento veio sem conteúdo.',
    comoResolver:
      'Informe a identificação fiscal do país, com até 40 caracteres. Se não há, troque NIF por cNaoNIF com o motivo.',
    origem: 'Especificação, DPS: toma/NIF; Errors: E0191',
    exemplos: { rejects: [{ ...TOMADOR_NO_EXTERIOR, 'toma/NIF': '' }], accepts: [TOMADOR_NO_EXTERIOR] },
  },
  {
    codigo: 'E0193',
    mensagem: 'Tomador no exterior sem NIF e sem o motivo de não o ter',
    comoResolver:
      'Informe toma/NIF; quando não existe, toma/cNaoNIF com 0 (sem NIF), 1 (dispensado) ou 2 (não exigido).',
  },
  {
    codigo: 'E0235',
    mensagem: 'Endereço no exterior sem o país',
    significado: 'O grupo endExt veio sem cPais, ou com cPais vazio. Os seus quatro elementos são obrigatórios.',
    comoResolver: 'Informe em cPais o código ISO 3166-1 de duas letras, de /catalogo/paises.',
    origem: 'Especificação, DPS: toma/end/endExt; Errors: E0235',
    nacional: 'No padrão nacional E0235 exige o endereço no Brasil do tomador identificado por CNPJ.',
    exemplos: {
      rejects: [{ ...TOMADOR_NO_EXTERIOR, 'toma/end/endExt/cPais': null }],
      accepts: [{ ...TOMADOR_NO_EXTERIOR, 'toma/end/endExt/cPais': 'PT' }],
    },
  },
  {
    codigo: 'E0242',
    mensagem: 'Tomador com NIF sem endereço no exterior',
    comoResolver: 'Inclua em toma/end o grupo endExt completo: cPais, cEndPost, xCidade e xEstProvReg.',
  },
  {
    codigo: 'E0246',
    mensagem: 'O país do endereço no exterior não existe ou é o Brasil',
    comoResolver: 'Escolha o código em /catalogo/paises; para um endereço no Brasil use endNac.',
  },
  {
    codigo: 'E0310',
    mensagem: 'O município não administra este código de tributação nacional',
    comoResolver:
      'Confira na lista de serviços do município se o código vale na competência. Um serviço que lhe falta é cadastrado pela prefeitura.',
  },
  {
    codigo: 'E0373',
    mensagem: 'CIB fora do formato',
    significado: 'O código do Cadastro Imobiliário Brasileiro, em cCIB, não tem exatamente 8 dígitos.',
    comoResolver: 'Informe os 8 dígitos do CIB, sem pontuação, ou identifique a obra de outra forma.',
    origem: 'Especificação, DPS: serv/obra; Errors: E0373',
    nacional: 'O padrão nacional pede 7 caracteres e um dígito verificador, que ele confere.',
    exemplos: { rejects: [{ ...OBRA, 'serv/obra/cCIB': '1234567' }], accepts: [OBRA] },
  },
  {
    codigo: 'E0382',
    mensagem: 'CEP junto com endereço no exterior',
    significado:
      'O endereço da obra, do imóvel ou do evento está no Brasil, com CEP, ou no exterior, com endExt: nunca os dois.',
    comoResolver: 'Deixe o CEP quando o endereço é no Brasil, ou endExt quando não é.',
    origem: 'Especificação, DPS: serv/obra; Errors: E0382; Anexo I, E0382',
    nacional:
      'No padrão nacional E0382 é o CEP da obra com o país da prestação informado; aqui esse caso responde E0384. CEP e endExt juntos são lá uma falha de esquema.',
    exemplos: {
      rejects: [
        {
          ...OBRA_COM_ENDERECO,
          'serv/obra/end/endExt/cEndPost': '1100-148',
          'serv/obra/end/endExt/xCidade': 'Lisboa',
          'serv/obra/end/endExt/xEstProvReg': 'Lisboa',
        },
      ],
      accepts: [OBRA_COM_ENDERECO],
    },
  },
  {
    codigo: 'E0427',
    mensagem: 'Deduções, descontos e valores de terceiros maiores que o valor do serviço',
    comoResolver:
      'Reduza o desconto incondicionado, a dedução, o benefício ou os valores de terceiros (gReeRepRes), até que a soma caiba em vServ.',
  },
  {
    codigo: 'E0428',
    mensagem: 'Descontos e retenções maiores que o valor do serviço',
    comoResolver: 'Confira descontos, vRetCP, vRetIRRF, vRetCSLL e o ISSQN retido: juntos não passam de vServ.',
  },
  {
    codigo: 'E0686',
    mensagem: 'Alíquota do PIS fora de 0 a 100',
    significado: 'pAliqPis é um percentual e passa de 100.',
    comoResolver: 'Informe o percentual com duas casas: 0.65 para 0,65%.',
    origem: 'Especificação, DPS: tribFed; Anexo I, E0686',
    exemplos: { rejects: [{ ...PIS, [`${PISCOFINS}/pAliqPis`]: '100.01' }], accepts: [PIS] },
  },
  {
    codigo: 'E0692',
    mensagem: 'Alíquota da COFINS fora de 0 a 100',
    significado: 'pAliqCofins é um percentual e passa de 100.',
    comoResolver: 'Informe o percentual com duas casas: 3.00 para 3%.',
    origem: 'Especificação, DPS: tribFed; Anexo I, E0692',
    exemplos: { rejects: [{ ...COFINS, [`${PISCOFINS}/pAliqCofins`]: '300.00' }], accepts: [COFINS] },
  },
  {
    codigo: 'E0958',
    mensagem: 'Classificação tributária inexistente ou que não serve a serviços',
    comoResolver:
      'Escolha na tabela nacional vigente um cClassTrib que se use em NFS-e; a mensagem diz o que há com o enviado.',
  },
  {
    codigo: 'E0959',
    mensagem: 'Classificação tributária de outro CST',
    comoResolver: 'Os três primeiros dígitos de cClassTrib são o CST: corrija um dos dois.',
  },
  {
    codigo: 'E1235',
    mensagem: 'Grupo de comércio exterior incompleto ou ausente',
    significado:
      'O grupo comExt veio sem um dos seus elementos obrigatórios: modo de prestação, vínculo, moeda, valor na moeda, os dois mecanismos de apoio e a movimentação temporária de bens. Ou falta inteiro, e o tomador está no exterior: tem endExt, NIF ou cNaoNIF.',
    comoResolver: 'Preencha todos. Onde não há mecanismo de apoio use 01; onde não há movimentação de bens, 1.',
    origem: 'Especificação, DPS: serv/comExt; Errors: E1235',
    nacional: 'No padrão nacional E1235 é qualquer falha de esquema do documento.',
    exemplos: {
      rejects: [{ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/movTempBens': null }],
      accepts: [TOMADOR_NO_EXTERIOR],
    },
  },
  {
    codigo: 'E1305',
    mensagem: 'Falta saber o município de incidência',
    comoResolver:
      'Informe o município da prestação, ou o endereço no Brasil do tomador, conforme a regra de incidência do serviço. O município de incidência mesmo não se envia em XML.',
  },
  {
    codigo: 'E1313',
    mensagem: 'Águas marítimas com um serviço que não as admite',
    comoResolver: 'Informe em cLocPrestacao o município da prestação. O valor 0000000 serve só ao cTribNac 200101.',
  },
  {
    codigo: 'E1402',
    mensagem: 'Serviço que não se presta em águas marítimas',
    comoResolver: 'Use cTribNac 200101 se o serviço é o portuário; senão, informe o município da prestação.',
  },
]);

/** The database finds this one when the note is stored. */
export const DUPLICIDADE: readonly Row[] = aboutTheDocument([
  {
    codigo: 'E0014',
    mensagem: 'Série e número já usados por este prestador',
    significado:
      'O prestador já tem uma nota com a mesma série e o mesmo número de DPS, ainda que o conteúdo seja o mesmo. A resposta traz chave_acesso, numero_protocolo e mesmo_conteudo, que diz se é a mesma DPS. Série e número de uma nota que o ADN recusou ficam livres de novo.',
    comoResolver:
      'Com mesmo_conteudo verdadeiro, a sua nota já existe: consulte-a pela chave. Com falso, emita com outro número.',
    origem: 'Especificação, Errors: E0014; decisões D-19 e D-20',
    nacional: 'No padrão nacional o município emissor também faz parte da chave da repetição.',
    pedidos: [
      {
        titulo: 'A série 1 e o número 42 deste prestador já são de uma nota',
        recusado: '<serie>1</serie>\n<nDPS>42</nDPS>',
        aceito: '<serie>1</serie>\n<nDPS>43</nDPS>',
      },
    ],
  },
]);
