/**
 * Everyday words for the services of the national list. The filter `descricao` finds services by these words and by those of the list.
 *
 * The words are ours, and no part of the law. A word helps to find a subitem; only the description says whether it is the right service. A
 * thing leased without an operator (a car, a machine) has no taxed subitem, and is found in 99.01.
 */

/** One or more words, and the subitems of the list that they may mean. */
const PALAVRAS: Readonly<Record<string, readonly string[]>> = {
  // 01 Informática
  software: ['01.01', '01.02', '01.04', '01.05', '01.07'],
  'aplicativo app celular': ['01.01', '01.02', '01.04', '01.05'],
  'desenvolvedor programador TI': ['01.01', '01.02', '01.04', '01.06'],
  'SaaS assinatura licença de software': ['01.05'],
  'hospedagem de site servidor nuvem cloud backup': ['01.03'],
  'criação de site website loja virtual blog': ['01.08'],
  'helpdesk técnico de computador formatação rede': ['01.07'],
  'streaming podcast ebook': ['01.09'],
  jogo: ['01.04'],
  // 02 e 03
  'cientista laboratório de pesquisa': ['02.01'],
  'licença de marca royalties': ['03.02'],
  'aluguel de salão de festas aluguel de espaço coworking quadra auditório': ['03.03'],
  'aluguel de palco aluguel de andaime tenda': ['03.05'],
  'aluguel de carro aluguel de veículo locadora locação de bens móveis aluguel de equipamento aluguel de máquina aluguel de móveis':
    ['99.01'],
  // 04 Saúde
  'médico consulta médica clínico pediatra cardiologista ginecologista dermatologista': ['04.01', '04.03'],
  'exame de sangue laboratório raio-x ultrassom tomografia': ['04.02'],
  'pronto-socorro internação posto de saúde': ['04.03'],
  'enfermeiro cuidador cuidador de idosos': ['04.06'],
  'farmácia manipulação farmacêutico': ['04.07'],
  'fisioterapeuta fonoaudiólogo terapeuta pilates': ['04.08'],
  'terapia alternativa massoterapia reiki quiropraxia': ['04.09'],
  'nutricionista dieta': ['04.10'],
  'parteira doula': ['04.11'],
  'dentista aparelho ortodontia': ['04.12'],
  'protético prótese dentária': ['04.14'],
  'psicanalista análise': ['04.15'],
  'psicólogo psicoterapia terapia': ['04.16'],
  'asilo creche casa de idosos berçário': ['04.17'],
  'ambulância UTI móvel': ['04.21'],
  'plano de saúde convênio': ['04.22', '04.23'],
  // 05 Animais
  'veterinário consulta animal cachorro gato': ['05.01', '05.02'],
  'pet shop banho e tosa cachorro gato hotel de cães adestrador passeador': ['05.08'],
  // 06 Beleza e exercício
  'salão de beleza cabeleireira barbeiro manicure pedicure corte de cabelo unha': ['06.01'],
  'estética maquiagem maquiador limpeza de pele sobrancelha': ['06.02'],
  'massagista massagem': ['06.03'],
  'academia personal trainer crossfit ioga yoga pilates professor de educação física escolinha de futebol': ['06.04'],
  tatuador: ['06.06'],
  // 07 Obras e limpeza
  'engenheiro arquiteto agrônomo geólogo topógrafo': ['07.01'],
  'projeto de arquitetura projeto elétrico planta': ['07.03'],
  'pedreiro obra construção eletricista encanador empreiteiro terraplenagem': ['07.02'],
  'reforma pintor pintura de parede conserto de telhado pedreiro': ['07.05'],
  'instalação de piso cortina papel de parede vidraceiro gesseiro drywall': ['07.06'],
  'polimento de piso sinteco': ['07.07'],
  'coleta de lixo entulho caçamba reciclagem': ['07.09'],
  'faxina faxineira diarista limpeza de escritório limpeza de condomínio zeladoria piscineiro': ['07.10'],
  'jardineiro paisagista decorador decoração de interiores poda': ['07.11'],
  'esgoto fossa efluente': ['07.12'],
  'controle de pragas dedetizador desentupidora baratas cupim': ['07.13'],
  'fiscalização de obra acompanhamento de obra': ['07.19'],
  'topografia georreferenciamento drone mapa': ['07.20'],
  // 08 Ensino
  'escola colégio faculdade universidade mensalidade escolar': ['08.01'],
  'professor particular aula curso treinamento autoescola idiomas inglês reforço escolar instrutor mentoria coach': [
    '08.02',
  ],
  // 09 Turismo
  'hotel pousada motel diária hostel airbnb': ['09.01'],
  'agência de viagens pacote turístico excursão': ['09.02'],
  'guia turístico': ['09.03'],
  // 10 Intermediação
  'corretor de seguros corretora de câmbio': ['10.01'],
  'corretor de investimentos': ['10.02'],
  'corretor de imóveis imobiliária marketplace intermediação de vendas': ['10.05'],
  'agência de publicidade mídia': ['10.08'],
  'representante comercial comissão de vendas vendedor': ['10.09'],
  distribuidora: ['10.10'],
  // 11 Guarda
  'estacionamento garagem manobrista valet': ['11.01'],
  'vigilante segurança privada portaria porteiro alarme câmeras': ['11.02'],
  'armazém galpão guarda-móveis logística': ['11.04'],
  'rastreador rastreamento de veículo': ['11.05'],
  // 12 Diversões
  'teatro peça': ['12.01'],
  cinema: ['12.02'],
  circo: ['12.03'],
  'parque infantil brinquedo': ['12.05'],
  'balada danceteria': ['12.06'],
  'banda cantor cachê DJ show musical': ['12.07', '12.12', '12.13'],
  'exposição feira congresso': ['12.08'],
  'sinuca fliperama boliche': ['12.09'],
  'campeonato torneio corrida de rua': ['12.11'],
  'músico cantor': ['12.12'],
  'produtor de eventos produção de show': ['12.13'],
  'animador de festa recreador palhaço': ['12.17'],
  // 13 Imagem e som
  'estúdio de gravação locução locutor dublador': ['13.02'],
  'fotógrafo filmagem vídeo cinegrafista edição de vídeo drone casamento': ['13.03'],
  'xerox fotocópia escaneamento impressão': ['13.04'],
  'gráfica impressão cartão de visita panfleto': ['13.05'],
  // 14 Consertos
  'conserto mecânico oficina mecânica assistência revisão de carro conserto de celular conserto de geladeira lava-rápido lavagem de carro':
    ['14.01'],
  'técnico assistência conserto garantia': ['14.02'],
  'retífica de motor': ['14.03'],
  'recauchutadora borracheiro pneu': ['14.04'],
  'usinagem pintura eletrostática torno torneiro': ['14.05'],
  'instalação de ar-condicionado montador de móveis instalação de antena': ['14.06'],
  encadernador: ['14.08'],
  'costureira alfaiate ajuste de roupa': ['14.09'],
  'lavanderia lavagem de roupa': ['14.10'],
  'estofador tapeceiro': ['14.11'],
  'funileiro martelinho de ouro lataria': ['14.12'],
  'marceneiro carpinteiro serralheiro': ['14.13'],
  'guincho reboque socorro de carro': ['14.14'],
  // 15 Banco
  'banco tarifa bancária conta-corrente maquininha': ['15.02', '15.07', '15.10'],
  'boleto pagamento gateway': ['15.10'],
  // 16 Transporte
  'ônibus fretamento urbano metrô': ['16.01'],
  'transporte uber táxi motorista motorista de aplicativo frete mudança van escolar carreto mototáxi': ['16.02'],
  // 17 Apoio
  'consultor consultoria empresarial assessoria': ['17.01'],
  'digitador secretária assistente virtual tradutor redator revisor call center telemarketing': ['17.02'],
  'gestão de projetos planejamento': ['17.03'],
  'RH recrutador headhunter agência de empregos estágio': ['17.04'],
  'terceirização temporário mão de obra': ['17.05'],
  'marketing publicidade redes sociais social media influenciador campanha tráfego pago': ['17.06'],
  franqueado: ['17.08'],
  'perito laudo vistoria': ['17.09'],
  'organização de congresso': ['17.10'],
  'festa casamento cerimonialista bufê buffet garçom': ['17.11'],
  'administrador síndico administradora de condomínio gestão de imóveis': ['17.12'],
  leiloeiro: ['17.13'],
  'advogado honorários advocatícios jurídico': ['17.14'],
  'mediador árbitro': ['17.15'],
  auditor: ['17.16'],
  atuário: ['17.18'],
  'contador contabilista escritório contábil imposto de renda': ['17.19'],
  'economista consultor financeiro planejador financeiro': ['17.20'],
  estatístico: ['17.21'],
  'cobrador recuperação de crédito': ['17.22'],
  factoring: ['17.23'],
  'palestrante palestra': ['17.24'],
  'anúncio outdoor banner publicidade': ['17.25'],
  // 18 a 40
  'seguro sinistro regulador': ['18.01'],
  'lotérica loteria aposta bet': ['19.01'],
  'porto navio rebocador': ['20.01'],
  aeroporto: ['20.02'],
  rodoviária: ['20.03'],
  'cartório tabelião registro reconhecimento de firma': ['21.01'],
  pedágio: ['22.01'],
  'design designer gráfico logotipo identidade visual': ['23.01'],
  'chaveiro carimbo adesivo placa': ['24.01'],
  'funerária enterro velório': ['25.01'],
  crematório: ['25.02'],
  'cemitério jazigo': ['25.04'],
  'entregador motoboy delivery correio encomenda': ['26.01'],
  'assistente social': ['27.01'],
  'avaliador avaliação de imóvel': ['28.01'],
  bibliotecário: ['29.01'],
  'biólogo químico': ['30.01'],
  'técnico em eletrônica técnico em telecomunicações': ['31.01'],
  'desenhista CAD projetista': ['32.01'],
  'despachante aduaneiro importação': ['33.01'],
  detetive: ['34.01'],
  'jornalista repórter assessor de imprensa': ['35.01'],
  'ator modelo atleta jogador': ['37.01'],
  'joalheiro ourives': ['39.01'],
  'pintor de quadros escultor artista plástico': ['40.01'],
};

/** The everyday words of each subitem. */
const BY_SUBITEM: ReadonlyMap<string, string> = gather();

function gather(): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const [said, subitens] of Object.entries(PALAVRAS)) {
    for (const subitem of subitens) words.set(subitem, `${words.get(subitem) ?? ''} ${said}`);
  }
  return words;
}

/** The everyday words of a subitem of the list (`01.01`), one after the other; empty if it has none. */
export function sinonimosOf(subitem: string): string {
  return BY_SUBITEM.get(subitem) ?? '';
}

/** The subitems that have everyday words, for the tests. */
export const SUBITENS_COM_SINONIMOS: readonly string[] = [...BY_SUBITEM.keys()];
